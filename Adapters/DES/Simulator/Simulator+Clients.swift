import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The client service: registration, push token, contact, tokens.
extension DESSimulator {
    func register(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let names = ["applicationVersion", "deviceModel", "osVersion", "sdkVersion", "language"]
        let body = try Body(call.request.json, ["platform"] + names + ["timezone", "pushSettings"])
        let platform = try body.text("platform")
        guard ["ios", "android", "android-huawei"].contains(platform) else { throw .bad("there is no such platform") }
        for name in names { _ = try body.text(name) }
        _ = try body.text("timezone") { ["+0000", "-0000"].contains($0.form) }
        try PushForm.check(body.object["pushSettings"], platform: platform)
        let known = place(of: call, in: state)
        if known == nil {
            state.clients.append(
                State.Client(application: call.application, id: call.clientID, registration: .object(body.object))
            )
        }
        let place = known ?? state.clients.count - 1
        state.clients[place].registration = .object(body.object)
        state.clients[place].registrations += 1
        state.clients[place].hasEchoed = false
        return answer(200, state.clients[place])
    }

    func setPushToken(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        let body = try Body(call.request.json, ["pushToken"])
        let isIOS = state.clients[place].registration["platform"]?.string == "ios"
        state.clients[place].pushToken =
            isIOS ? try body.text("pushToken") { $0.isLowerHex } : try body.text("pushToken")
        return answer(200, state.clients[place])
    }

    func removePushToken(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        if !call.request.body.isEmpty { _ = try Body(call.request.json, []) }
        state.clients[place].pushToken = nil
        return answer(200, state.clients[place])
    }

    func setContact(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try registered(call, state)
        let query = URLText.queryItems(of: call.request.url)
        if query.isEmpty {
            guard call.request[header: "X-Contact-Token"] == nil else { throw .bad("a contact is set without a token") }
            let body = try Body(
                call.request.json,
                ["contactFieldId"],
                optional: ["contactFieldValue", "openIdToken"]
            )
            guard let field = body.object["contactFieldId"]?.integer else { throw .bad("contactFieldId is no number") }
            guard body.object.count == 2 else { throw .bad("a contact has one proof") }
            let value = try body.optionalText("contactFieldValue")
            let token = try body.optionalText("openIdToken")
            state.clients[place].contact = "\(field)=\(value ?? "token:\(token ?? "")")"
        } else {
            guard query.count == 1, query[0] == ("anonymous", "true") else { throw .bad("unexpected query") }
            _ = try Body(call.request.json, [])
            guard account.takesAnonymous else { throw Refusal(403, "no anonymous contacts") }
            state.clients[place].contact = "anonymous"
        }
        state.clients[place].refreshToken = state.make("refresh")
        return issueToken(place, call, &state, withRefresh: true)
    }

    func renew(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try registered(call, state)
        guard call.request[header: "X-Contact-Token"] == nil else { throw .bad("a renewal has no contact token") }
        let body = try Body(call.request.json, ["refreshToken"])
        guard try body.text("refreshToken") == state.clients[place].refreshToken else {
            throw Refusal(403, "the refresh token is not good")
        }
        state.clients[place].renewals += 1
        return issueToken(place, call, &state, withRefresh: false)
    }

    private func issueToken(_ place: Int, _ call: Call, _ state: inout State, withRefresh: Bool) -> WireResponse {
        let token = state.make("contact")
        state.clients[place].token = State.Token(text: token, issuedAt: call.now.milliseconds)
        var json: JSONObject = ["contactToken": .string(token)]
        if withRefresh, let refresh = state.clients[place].refreshToken { json["refreshToken"] = .string(refresh) }
        return answer(200, state.clients[place], .object(json))
    }
}
