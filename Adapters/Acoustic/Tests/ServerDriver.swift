import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer

/// A back end connected to the simulated account.
typealias ServerDriver = BackEnd<AcousticServer>

extension BackEnd<AcousticServer> {
    convenience init(_ changes: JSONObject = [:], vendor settings: JSONObject = [:]) throws {
        let account = settings.reduce(into: ServerFixture.account) { $0[$1.name] = $1.value }
        try self.init(
            ServerFixture.adapter(changes),
            before: SimulatedVendor(try AcousticServerSimulator(settings: account))
        )
    }

    static func event(_ name: String) -> Action { .track(.custom(name: name)) }

    var account: AcousticServerAccount { vendor.state() ?? AcousticServerAccount() }
    func columns(_ contact: String) -> [String: String]? { account.contacts[contact]?.columns }

    func body(_ sent: VirtualWorld.Sent) -> String { String(decoding: sent.request.body, as: UTF8.self) }
    func codes(_ action: Action, _ options: JSONObject = [:]) -> [String] {
        adapter.examine(operation("c-1", action, options)).map { String($0.code.dropFirst("acoustic.server.".count)) }
    }
}

extension Outcome {
    static func status(_ status: Int, _ headers: WireHeader...) -> Outcome {
        .replied(WireResponse(status, headers: headers))
    }
    static func fault(_ number: Int) -> Outcome { .replied(ServerFixture.fault(number)) }
}
