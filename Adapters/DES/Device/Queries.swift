import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A query that an app can make.
struct Query {
    /// The name by which an app requests it.
    let name: String
    /// Its request.
    let endpoint: DESDevice.Endpoint
    /// The argument that it needs; nil for none.
    let argument: String?
    /// A description of the answer.
    let answer: String

    private init(_ name: String, _ endpoint: DESDevice.Endpoint, argument: String? = nil, answer: String) {
        (self.name, self.endpoint, self.argument, self.answer) = (name, endpoint, argument, answer)
    }

    /// All queries.
    static let all = [
        Query(
            "inline",
            .inlineMessages,
            argument: "viewId",
            answer: "the message: `campaignId`, `viewId`, `html`"
        ),
        Query("inbox", .inbox, answer: "`messages`; those that lack something are left out"),
        Query("geofences", .geofences, answer: "`refreshRadiusRatio` and `groups`, without what lacks something"),
        Query("pushMessage", .pushMessage, argument: "url", answer: "the content as it came"),
        Query("remoteConfig", .remoteConfig, answer: "the configuration as it came"),
        Query("remoteConfigSignature", .remoteConfigSignature, answer: "`signature`: the text as it came"),
    ]

    /// Returns the query with a name; nil if there is none.
    static func named(_ name: String) -> Query? { all.first { $0.name == name } }

    /// The names of all queries, as text for findings.
    static let names = all.map(\.name).joined(separator: ", ")

    /// Whether the query concerns a registered installation. Others are possible before the registration.
    var needsRegistration: Bool { Route.of(endpoint).namesClient }

    /// Returns the findings about a query.
    static func problems(_ request: ReadRequest, _ settings: DESSettings) -> [Finding] {
        guard let query = Query.named(request.what) else {
            return [FindingRow.queryUnknown.at("action.read.what")]
        }
        guard let name = query.argument else { return [] }
        let path = "action.read.arguments".dot(name)
        guard let text = request.arguments[name]?.string, !text.isEmpty else {
            return [FindingRow.argumentMissing.at(path)]
        }
        guard query.endpoint == .pushMessage else { return [] }
        let isOwn = VendorHost.isTrusted(text) || text.hasPrefix(settings.eventServiceURL + "/")
        return isOwn ? [] : [FindingRow.addressNotTrusted.at(path)]
    }
}
