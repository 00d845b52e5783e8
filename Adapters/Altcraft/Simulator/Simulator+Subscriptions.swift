import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftSimulator {
    private static let statuses = ["subscribed", "unsubscribed", "suspended"]

    /// Subscribes, unsubscribes or suspends.
    func subscribe(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        let query = try QueryReader(request, only: ["provider", "matching_mode", "sync"])
        try query.matching(caller)
        let isSynchronous = try query.flag("sync")
        let names = ["time", "subscription_id", "subscription", "profile_fields", "replace", "skip_triggers"]
        let body = try Body(request.json, only: names)
        let content = try Body(
            body.object["subscription"],
            only: ["subscription_id", "provider", "status", "fields", "cats"]
        )
        _ = try body.time("time")
        _ = try body.flag("skip_triggers")
        let provider = try query.provider()
        let token = try body.text("subscription_id")
        guard try content.text("subscription_id") == token, try content.text("provider") == provider else {
            throw .bad("the subscription differs from the query")
        }
        let status = try content.text("status")
        guard Self.statuses.contains(status) else { throw .bad("unknown status") }
        let fields = try checkedFields(content.object["fields"])
        let categories = try checkedCategories(content.object["cats"])
        let replaces = try body.flag("replace")

        let found = place(of: caller, (provider, token), in: state)
        let old = found.map { state.profiles[$0].fields } ?? [:]
        let profileFields = try body.object["profile_fields"].map { value throws(Refusal) -> JSONValue in
            guard let changes = value.object else { throw .bad("profile_fields is not an object") }
            return try ProfileChange(account: account).apply(changes, to: old)
        }
        let place = found ?? create(caller, in: &state)
        if let profileFields { state.profiles[place].fields = profileFields }
        let subscription = store(provider, token, status, fields, categories, in: place, &state)
        if replaces { releaseOthers(of: token, than: place, in: caller.database, &state) }
        return answer(profile: isSynchronous ? json(state.profiles[place], subscription) : .null)
    }

    private func checkedFields(_ value: JSONValue?) throws(Refusal) -> JSONObject {
        guard let fields = value?.object else { throw .bad("fields is not an object") }
        for field in fields where !field.value.isPlain || !account.knowsSubscriptionField(field.name) {
            throw .subscriptionField(field.name)
        }
        return fields
    }

    private func checkedCategories(_ value: JSONValue?) throws(Refusal) -> [(name: String, active: Bool)] {
        guard let list = value?.array else { throw .bad("cats is not a list") }
        var categories: [(name: String, active: Bool)] = []
        for item in list {
            let body = try Body(item, only: ["name", "active", "title", "steady"])
            let name = try body.text("name")
            guard account.knowsCategory(name) else { throw .category }
            categories.append((name, body.object["active"]?.bool ?? true))
        }
        return categories
    }

    private func store(
        _ provider: String,
        _ token: String,
        _ status: String,
        _ fields: JSONObject,
        _ categories: [(name: String, active: Bool)],
        in place: Int,
        _ state: inout State
    ) -> State.Subscription {
        let known = state.profiles[place].subscriptions.firstIndex { $0.provider == provider && $0.token == token }
        var subscription =
            known.map { state.profiles[place].subscriptions[$0] }
            ?? State.Subscription(provider: provider, token: token, status: status, number: state.number())
        if status == "unsubscribed", known == nil || subscription.status != status { subscription.optOuts += 1 }
        subscription.status = status
        var stored = subscription.fields.object ?? [:]
        for field in fields { stored[field.name] = field.value }
        subscription.fields = .object(stored)
        let old = subscription.categories.object ?? [:]
        var active = account.replacesCategories ? [:] : old
        for category in categories {
            let isSteady = account.steadyCategories.contains(category.name)
            active[category.name] = isSteady ? old[category.name] ?? true : .bool(category.active)
        }
        subscription.categories = .object(active)
        if let known {
            state.profiles[place].subscriptions[known] = subscription
        } else {
            state.profiles[place].subscriptions.append(subscription)
        }
        return subscription
    }

    /// Unsubscribes the same push token in other profiles of the database.
    private func releaseOthers(of token: String, than own: Int, in database: Int64, _ state: inout State) {
        change(token, in: &state) { profile, place, subscription in
            if place != own, profile == database { subscription.status = "unsubscribed" }
        }
    }

    private func change(
        _ token: String,
        in state: inout State,
        _ change: (_ database: Int64, _ place: Int, _ subscription: inout State.Subscription) -> Void
    ) {
        for place in state.profiles.indices {
            let database = state.profiles[place].database
            for number in state.profiles[place].subscriptions.indices
            where state.profiles[place].subscriptions[number].token == token {
                change(database, place, &state.profiles[place].subscriptions[number])
            }
        }
    }

    /// Moves the subscribed state from the profiles with the push token to the caller, in all databases.
    func unsuspend(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        guard caller.key != nil else { throw .bad("not available with a role token") }
        let query = try QueryReader(request, only: ["provider", "matching_mode", "subscription_id"])
        if query["matching_mode"] != nil { try query.matching(caller) }
        let body = try Body(request.json, only: ["subscription", "replace"])
        let content = try Body(body.object["subscription"], only: ["subscription_id", "provider"])
        let token = try content.text("subscription_id")
        let provider = try content.text("provider")
        guard try query.provider() == provider, try query.required("subscription_id") == token, try body.flag("replace")
        else { throw .bad("the subscription differs from the query") }
        let own = place(of: caller, nil, in: state)
        change(token, in: &state) { _, place, subscription in
            if place != own, subscription.status == "subscribed" { subscription.status = "suspended" }
            if place == own, subscription.status == "suspended" { subscription.status = "subscribed" }
        }
        guard let own else { return answer() }
        if account.releasesEveryToken {
            for number in state.profiles[own].subscriptions.indices
            where state.profiles[own].subscriptions[number].status == "suspended" {
                state.profiles[own].subscriptions[number].status = "subscribed"
            }
        }
        let profile = state.profiles[own]
        let subscription = profile.subscriptions.last { $0.provider == provider && $0.token == token }
        return answer(profile: json(profile, subscription))
    }

    /// Answers for the newest subscription, of a provider or of a token if the query names them.
    func status(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        let query = try QueryReader(request, only: ["provider", "matching_mode", "subscription_id"])
        try query.matching(caller)
        guard request.body.isEmpty else { throw .bad("a question has no body") }
        guard query["provider"] != nil || query["subscription_id"] == nil else { throw .bad("a token has a provider") }
        let provider = query["provider"]
        if let provider { _ = try Providers.checked(provider) }
        let token = query["subscription_id"]
        let known = provider.flatMap { provider in token.map { (provider: provider, token: $0) } }
        guard let place = place(of: caller, known, in: state) else { return answer() }
        let profile = state.profiles[place]
        let subscription = profile.subscriptions.filter { subscription in
            provider.map { $0 == subscription.provider } ?? true && token.map { $0 == subscription.token } ?? true
        }
        .max { $0.number < $1.number }
        return answer(profile: json(profile, subscription))
    }

    /// Replaces an old push token with a new one. Another subscription with the new token is removed, because a profile has one
    /// subscription per token. A repeated update succeeds.
    func updateToken(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        let query = try QueryReader(request, only: ["provider", "subscription_id", "sync"])
        guard try query.flag("sync") == (caller.key == nil) else { throw .bad("sync is true with a role token alone") }
        let body = try Body(request.json, only: ["old_token", "old_provider", "new_token", "new_provider"])
        guard body.object.count == 4 else { throw .bad("a token update has four fields") }
        let new = (provider: try body.text("new_provider"), token: try body.text("new_token"))
        let oldToken = body.object["old_token"]?.string
        guard try query.provider() == new.provider, query["subscription_id"] == oldToken else {
            throw .bad("the token differs from the query")
        }
        guard query["subscription_id"] != "",
            oldToken != new.token || body.object["old_provider"]?.string != new.provider
        else { throw .bad("the token did not change") }
        guard let oldToken else { return answer() }
        let old = (provider: try body.text("old_provider"), token: oldToken)
        let known = place(of: caller, old, in: state) ?? place(of: caller, new, in: state)
        guard let place = known else { throw .bad("subscription not found") }
        let subscriptions = state.profiles[place].subscriptions
        if let number = subscriptions.firstIndex(where: { $0.provider == old.provider && $0.token == old.token }) {
            state.profiles[place].subscriptions[number].provider = new.provider
            state.profiles[place].subscriptions[number].token = new.token
            let own = state.profiles[place].subscriptions[number].number
            state.profiles[place].subscriptions.removeAll {
                $0.number != own && $0.provider == new.provider && $0.token == new.token
            }
        } else if !subscriptions.contains(where: { $0.provider == new.provider && $0.token == new.token }) {
            throw .bad("subscription not found")
        }
        return answer()
    }
}
