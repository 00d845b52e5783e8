import PatchbayAdapterKit

// The URL query of each request, one row per parameter. A profile update has none.

/// The query of a subscription request.
struct SubscriptionQuery: WireRecord {
    var provider: String
    var matchingMode: String
    var sync: String

    static let table = FieldTable<SubscriptionQuery>(
        "Query of a subscription request",
        [
            .required("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q2")),
            .required("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q2")),
            .required("sync", \.sync, .text, from: "options.sync", rule: .altcraft("Q10")),
        ]
    )
}

/// The query of a token update: the new provider, the old token.
struct TokenUpdateQuery: WireRecord {
    var provider: String
    var token: String
    var sync: String

    static let table = FieldTable<TokenUpdateQuery>(
        "Query of a token update",
        [
            .required("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q3")),
            .required("subscription_id", \.token, .text, from: "memory.saved", rule: .altcraft("Q3")),
            .required("sync", \.sync, .text, from: "settings.rToken", rule: .altcraft("Q3")),
        ]
    )
}

/// The query of a release of a suspension.
struct ReleaseQuery: WireRecord {
    var provider: String
    var matchingMode: String?
    var token: String

    static let table = FieldTable<ReleaseQuery>(
        "Query of a release",
        [
            .required("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q4")),
            .optional("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q4")),
            .required("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("Q4")),
        ]
    )
}

/// The URL query of a subscription query: empty for the latest, the provider for its latest, both for the present one.
struct StatusQuery: WireRecord {
    var provider: String?
    var matchingMode: String
    var token: String?

    static let table = FieldTable<StatusQuery>(
        "Query of a question",
        [
            .optional("provider", \.provider, .text, from: "read.arguments.provider", rule: .altcraft("Q5")),
            .required("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q5")),
            .optional("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("Q5")),
        ]
    )
}

/// The query of a push event.
struct PushEventQuery: WireRecord {
    var matchingMode: String

    static let table = FieldTable<PushEventQuery>(
        "Query of a push event",
        [.required("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q6"))]
    )
}

/// The query of a custom event.
struct CustomEventQuery: WireRecord {
    var pixel: String

    static let table = FieldTable<CustomEventQuery>(
        "Query of a custom event",
        [
            .required("i", \.pixel, .text, from: "settings.pixel", rule: .altcraft("Q7")),
            .required("tr", { _ in "px" }, .text, from: "always px", rule: .altcraft("Q7")),
            .required("t", { _ in "open" }, .text, from: "always open", rule: .altcraft("Q7")),
            .required("v", { _ in "2" }, .text, from: "always 2", rule: .altcraft("Q7")),
        ]
    )
}

/// The query of a request that has none.
struct NoQuery: WireRecord {
    static let table = FieldTable<NoQuery>("No query", [])
}
