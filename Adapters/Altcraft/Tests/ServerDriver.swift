import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// A back end connected to the simulated platform.
typealias ServerDriver = BackEnd<AltcraftServer>

extension BackEnd<AltcraftServer> {
    convenience init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        let usual: JSONObject = ["apiToken": .string(ServerFixture.token), "dbId": 12, "pushResource": 31]
        let account = settings.reduce(into: usual) { $0[$1.name] = $1.value }
        try self.init(
            ServerFixture.adapter(changes),
            before: SimulatedVendor(try AltcraftServerSimulator(settings: account))
        )
    }

    var account: AltcraftServerAccount { vendor.state() ?? AltcraftServerAccount() }

    func fields(of contact: String) -> JSONValue? {
        account.profiles.first { $0.fields["crm_id"]?.string == contact }?.fields
    }

    /// Returns the statuses of a contact's e-mail subscriptions, by resource.
    func emailStatuses(of contact: String) -> [Int64: String] {
        let profile = account.profiles.first { $0.fields["crm_id"]?.string == contact }
        let entries = (profile?.subscriptions ?? []).filter { $0["channel"] == "email" }
        return entries.reduce(into: [:]) { statuses, entry in
            if let resource = entry["resource_id"]?.integer { statuses[resource] = entry["status"]?.string }
        }
    }
}

extension Outcome {
    static func status(_ status: Int) -> Outcome {
        .json(status, ["error": .integer(status), "error_text": "x"])
    }
}
