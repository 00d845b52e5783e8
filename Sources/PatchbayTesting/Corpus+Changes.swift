import PatchbayJSON
import PatchbayModel

/// Samples of changes after the first day: devices, people, decisions, and the state of the app.
extension Corpus {
    private func device(_ number: Int, _ name: String, _ summary: String, change: (inout Device) -> Void) -> Sample {
        var device = Corpus.phone
        change(&device)
        return one(number, name, summary, .registerDevice(device))
    }

    var changingDeviceSamples: [Sample] {
        [
            device(14, "register-again", "The app starts, and nothing is new.") { _ in },
            device(15, "token-rotated", "The push service has given the app another token.") {
                $0.pushToken?.value = "0aa1f00d5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d97c1f3a"
            },
            device(16, "token-gone", "The person took the permission back, and the token is gone.") {
                ($0.pushToken, $0.allowsPush) = (nil, false)
            },
            device(17, "locale-changed", "The person changed the phone's language.") { $0.facts?.locale = "sv_FI" },
            device(18, "time-zone-changed", "The person travelled, and it is summer there.") {
                $0.facts?.timeZone = "America/New_York"
                $0.facts?.utcOffsetSeconds = -14_400
                $0.facts?.isDaylightSaving = true
            },
            device(19, "app-updated", "The app was updated.") { $0.facts?.appVersion = "9.0.0" },
        ]
    }

    private static let ainoLogsIn = Action.switchContact(ContactSwitch(.logIn, identifiers: aino))
    private static let logOut = Action.switchContact(ContactSwitch(.logOut))

    private func colour(_ value: String) -> Action { .changeAttributes(["favourite_colour": .set(.string(value))]) }

    var changingPeopleSamples: [Sample] {
        [
            Sample(
                "log-out-log-in",
                "Aino logs out and in again.",
                [operation(28, 0, contact: nil, Self.logOut), operation(28, 1, Self.ainoLogsIn)]
            ),
            Sample(
                "two-people",
                "Two people use one device in turn; the data of one is never sent for the other.",
                [
                    operation(29, 0, colour("red")), operation(29, 1, contact: nil, Self.logOut),
                    operation(29, 2, contact: "c-1002", .switchContact(Corpus.joseLogsIn)),
                    operation(29, 3, contact: "c-1002", colour("green")),
                    operation(29, 4, contact: "c-1002", .track(.custom(name: "Wishlist Opened"))),
                    operation(29, 5, contact: nil, Self.logOut), operation(29, 6, Self.ainoLogsIn),
                    operation(29, 7, colour("blue")),
                ]
            ),
            Sample(
                "anonymous-then-known",
                "An anonymous person uses the app, and then logs in.",
                startsAfresh: true,
                [
                    operation(130, 0, contact: nil, .registerDevice(Corpus.phone)),
                    operation(130, 1, contact: nil, .track(.custom(name: "Wishlist Opened"))),
                    operation(130, 2, contact: nil, .changeTags(TagChange(add: ["sports"]))),
                    operation(130, 3, Self.ainoLogsIn), operation(130, 4, .track(Corpus.order)),
                ]
            ),
            Sample(
                "erase-then-return",
                "Aino is forgotten, and comes back.",
                [
                    operation(131, 0, .erase), operation(131, 1, contact: nil, .registerDevice(Corpus.phone)),
                    operation(131, 2, Self.ainoLogsIn), operation(131, 3, colour("blue")),
                ]
            ),
            Sample(
                "unregister-then-return",
                "The vendor is left, and used again.",
                [
                    operation(132, 0, .unregister), operation(132, 1, .registerDevice(Corpus.phone)),
                    operation(132, 2, Self.ainoLogsIn),
                ]
            ),
        ]
    }

    var changingMindSamples: [Sample] {
        let unset = Action.changeAttributes(["favourite_colour": .unset])
        return [
            Sample(
                "attribute-same-twice",
                "The same value is set twice.",
                [operation(49, 0, colour("blue")), operation(49, 1, colour("blue"))]
            ),
            Sample(
                "attribute-unset-then-set",
                "A value is taken away and set again before anything left.",
                [operation(50, 0, unset), operation(50, 1, colour("blue"))]
            ),
            Sample(
                "attribute-set-unset-set",
                "A value is set, taken away, and another is set.",
                [operation(51, 0, colour("red")), operation(51, 1, unset), operation(51, 2, colour("blue"))]
            ),
            one(
                52,
                "attribute-object-nested",
                "An object in an object, a list in it, and numbers that keep their decimals.",
                isOrdinary: false,
                .changeAttributes([
                    "address": .set(
                        .object([
                            "street": "Aleksanterinkatu 52", "flat": .object(["number": "12 B", "floor": 3]),
                            "seen": .list(["2031-03-08", "2031-03-09"]), "share": Corpus.typed("1.50", .decimal),
                        ])
                    )
                ])
            ),
            Sample(
                "tags-back-and-forth",
                "A tag is added, removed and added again before anything left.",
                [
                    operation(85, 0, .changeTags(TagChange(add: ["sports"]))),
                    operation(85, 1, .changeTags(TagChange(remove: ["sports"]))),
                    operation(85, 2, .changeTags(TagChange(add: ["sports"]))),
                ]
            ),
            Sample(
                "subscription-push-off-and-on",
                "Aino wants no notifications, and wants them after all.",
                [
                    operation(98, 0, .changeSubscription(Subscription(channel: .push, state: .unsubscribed))),
                    operation(98, 1, .changeSubscription(Subscription(channel: .push, state: .subscribed))),
                ]
            ),
            one(
                99,
                "subscription-push-topic-on",
                "Aino subscribes to one topic's notifications.",
                .changeSubscription(Subscription(channel: .push, topic: "weekly_offers", state: .subscribed))
            ),
        ]
    }

    var momentSamples: [Sample] {
        [
            one(
                106,
                "push-received-in-foreground",
                "A push message arrives while the app is on the screen.",
                .track(.push(.received, payload: pushPayload))
            ),
            one(
                107,
                "push-received-not-running",
                "A push message arrives while the app does not run; an extension reports it.",
                appState: nil,
                .track(.push(.received, payload: pushPayload))
            ),
            one(
                108,
                "push-tapped-not-running",
                "A tap on a push message starts the app.",
                appState: nil,
                .track(.push(.tapped, payload: pushPayload))
            ),
            Sample(
                "push-whole-way",
                "A push message arrives, is tapped, and opens the app.",
                [
                    operation(109, 0, appState: .background, .track(.push(.received, payload: pushPayload))),
                    operation(109, 1, appState: .inactive, .track(.push(.tapped, payload: pushPayload))),
                    operation(109, 2, .track(.push(.opened, payload: pushPayload))),
                ]
            ),
            one(
                116,
                "message-clicked-plain",
                "A message inside the app is clicked beside its buttons.",
                .track(.messageClicked(messageID: "m-301"))
            ),
            Sample(
                "message-viewed-and-clicked",
                "A message inside the app is seen and its button clicked, while another is only seen.",
                [
                    operation(117, 0, .track(.messageViewed(messageID: "m-301"))),
                    operation(117, 1, .track(.messageViewed(messageID: "m-302"))),
                    operation(117, 2, .track(.messageClicked(messageID: "m-301", buttonID: "buy"))),
                ]
            ),
            Sample(
                "session",
                "A session from its start to its end.",
                [
                    operation(118, 0, .track(.sessionStarted)),
                    operation(118, 1, .track(.custom(name: "Wishlist Opened"))),
                    operation(118, 2, appState: .background, .track(.sessionEnded)),
                ]
            ),
            Sample(
                "same-event-twice",
                "The same thing happens twice; both count.",
                [
                    operation(119, 0, .track(.custom(name: "Wishlist Opened"))),
                    operation(119, 1, .track(.custom(name: "Wishlist Opened"))),
                ]
            ),
            one(
                126,
                "attribute-in-background",
                "A value is set while the app is in the background.",
                appState: .background,
                colour("blue")
            ),
            Sample(
                "group-with-a-bad-entry",
                "What is gathered on a screen stays together, although one of it has no name.",
                isOrdinary: false,
                [
                    operation(127, 0, group: "screen-8", colour("red")),
                    operation(127, 1, group: "screen-8", .track(.custom(name: ""))),
                    operation(127, 2, group: "screen-8", .track(.custom(name: "Profile Saved"))),
                ]
            ),
            Sample(
                "options-of-another",
                "Options for another vendor mean nothing here.",
                [
                    operation(
                        128,
                        0,
                        options: ["formervendor": ["campaign": "spring", "mode": "fast"]],
                        .track(.custom(name: "Wishlist Opened"))
                    )
                ]
            ),
        ]
    }
}
