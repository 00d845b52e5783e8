import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbaySimulation

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

/// A back end connected to the simulated account.
typealias ServerDriver = BackEnd<SalesforceServer>

extension BackEnd<SalesforceServer> {
    convenience init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        let rest: JSONObject = ["restUrl": "https://mc.rest.example"]
        try self.init(
            ServerFixture.adapter(rest.reduce(into: changes) { $0[$1.name] = $0[$1.name] ?? $1.value }),
            before: SimulatedVendor(try SalesforceServerSimulator(settings: settings))
        )
    }

    var account: SalesforceServerAccount { vendor.state() ?? SalesforceServerAccount() }
    var rows: [String: [String: JSONValue]] { account.rows["Shop/People"] ?? [:] }
}

extension Outcome {
    static func status(_ status: Int, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers, json: ["message": "x", "errorcode": 0]))
    }
}
