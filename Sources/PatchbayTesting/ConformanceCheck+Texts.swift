import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension ConformanceCheck {
    /// Checks that hostile texts survive and that personal texts do not leak.
    static let texts: [ConformanceCheck] = [
        ConformanceCheck("hostile texts arrive unchanged or are refused", "texts") { subject in
            let texts = Corpus.hostileTexts + [("long", Corpus.longText)]
            return texts.enumerated().compactMap { position, hostile -> Problem? in
                let operation = subject.corpus.operation(
                    440,
                    position,
                    .changeAttributes(["favourite_colour": .set(.string(hostile.text))])
                )
                let drive = subject.drive([operation], Script())
                let texts: [String] = drive.sent.flatMap { WireStrings.of($0.request) }
                let found = texts.contains { $0.contains(hostile.text) }
                let isRefused =
                    drive.examined[operation.id]?.isEmpty == false
                    || drive.outcomes[operation.id]?.isTaken == false || drive.outcomes[operation.id]?.finding != nil
                return found || isRefused
                    ? nil : Problem(hostile.name, "the text arrives changed, and no finding reports it.")
            }
        },
        ConformanceCheck("JSON bodies are valid JSON", "texts") { subject in
            subject.samples.flatMap { sample in
                subject.drive(sample, against: .accepting).sent.compactMap { sent -> Problem? in
                    guard sent.request[header: "Content-Type"]?.contains("json") == true, !sent.request.body.isEmpty,
                        sent.request.json == nil
                    else { return nil }
                    return Problem(sample.name, "the body of \(sent.endpoint) is not JSON, but its Content-Type is.")
                }
            }
        },
        ConformanceCheck("findings and descriptions contain no personal value", "A16") { subject in
            let behaviors = [VendorBehavior.accepting, .refusing, VendorBehavior.failing[0], VendorBehavior.failing[5]]
            return Canary.operations(subject.corpus).flatMap { operation in
                behaviors.flatMap { behavior -> [Problem] in
                    let kind = operation.action.kind.rawValue
                    let drive = subject.drive([operation]) { behavior.set(&$0, subject.refusal) }
                    let findings = drive.findings.filter { Canary.isContained(in: "\($0.json.text)") }.map {
                        Problem(kind, "the finding \($0.code) shows a personal value.")
                    }
                    let requests = drive.sent.filter { Canary.isContained(in: $0.request.description) }.map {
                        Problem(kind, "the description of \($0.endpoint) shows a personal value.")
                    }
                    return findings + requests
                }
            }
        },
    ]
}

/// Operations whose values can be distinguished from all other text.
enum Canary {
    private static let marker = "Canary77"
    private static let values = [
        marker, marker + String(repeating: " sings", count: 2000), "\u{0}\(marker)\n", "=\(marker)",
    ]

    static func isContained(in text: String) -> Bool { text.contains(marker) }

    static func operations(_ corpus: Corpus) -> [EngagementOperation] {
        var actions: [Action] = values.flatMap { value -> [Action] in
            [
                .changeAttributes([
                    .givenName: .set(.string(value)), .birthDate: .set(.string(value)), "visits": .set(.string(value)),
                    "address": .set(.object(["street": .string(value)])), "interests": .set(.choices([value])),
                    "email": .set(.string(value)), "recent_orders": .append([.string(value)]),
                ]),
                // Alone, so that an API that refuses other types still receives the text.
                .changeAttributes(["favourite_colour": .set(.string(value))]),
                .track(.custom(name: "Order Placed", attributes: ["note": .string(value)])),
                .identify([Identifier(.external, value)]),
                .identify([Identifier(.email, value)]),
                .identify([Identifier(.phone, value)]),
                .switchContact(
                    ContactSwitch(.logIn, identifiers: [Identifier(.external, value), Identifier(.email, value)])
                ),
                .track(
                    .custom(name: "Order Placed", attributes: ["order_id": .string(value), "total": .string(value)])
                ),
                .changeSubscription(
                    Subscription(
                        channel: .email,
                        topic: "weekly_offers",
                        state: .subscribed,
                        source: value,
                        evidence: value,
                        fields: ["frequency": .string(value)]
                    )
                ),
            ]
        }
        var device = Corpus.phone
        device.pushToken?.value = marker
        device.facts?.deviceName = marker
        device.facts?.advertisingID = marker
        actions.append(.registerDevice(device))
        return actions.enumerated().map { corpus.operation(450, $0.offset, contact: marker, $0.element) }
    }
}

/// The texts that a receiver finds in a request, regardless of its encoding.
enum WireStrings {
    static func of(_ request: WireRequest) -> [String] {
        var texts = URLText.queryItems(of: request.url).map(\.value)
        texts += URLText.path(of: request.url).split(separator: "/").compactMap { URLText.decode($0) }
        if let json = request.json {
            texts += strings(in: json)
        } else {
            let body = String(decoding: request.body, as: UTF8.self)
            // A part of a form may hold XML.
            let parts = URLText.queryItems(of: "?" + body.replacing("+", with: "%20")).map(\.value)
            texts += parts + (parts + [body]).map(unescapedXML)
        }
        return texts
    }

    private static func strings(in json: JSONValue) -> [String] {
        switch json {
        case .string(let text):
            // A text may hold another JSON text.
            if text.hasPrefix("{") || text.hasPrefix("["), let inner = try? JSONValue(parsing: text) {
                [text] + strings(in: inner)
            } else {
                [text]
            }
        case .array(let elements): elements.flatMap(strings)
        case .object(let object): object.flatMap { strings(in: $0.value) }
        default: []
        }
    }

    private static func unescapedXML(_ text: String) -> String {
        let plain = text.replacing("]]]]><![CDATA[>", with: "]]>")
        let entities = [
            ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#x27;", "'"), ("&#13;", "\r"),
            ("&#xD;", "\r"),
        ]
        return (entities + [("&amp;", "&")]).reduce(plain) { $0.replacing($1.0, with: $1.1) }
    }
}
