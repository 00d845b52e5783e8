import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What the network and the vendors do while a scenario is played.
final class ScenarioNetwork {
    /// Replies that wait for a request, first come, first served.
    var replies: [Scenario.Reply] = []
    /// What answers when no reply waits; nil lets the vendor answer.
    var standing: Scenario.Reply?
    /// Whether requests get through.
    var isUp = true
    /// The adapter of each provider, by the provider's name.
    var providers: [String: AdapterID] = [:]
    /// The vendors that are played, by id; APIs of one vendor share it.
    let vendors: [AdapterID: SimulatedVendor]
    /// The exchange at which the process dies.
    var cut: ScenarioRun.Cut?
    /// What became of each request, by its number.
    private(set) var fates: [Int: VirtualWorld.Fate] = [:]

    init(_ scenario: Scenario, simulators: [any VendorSimulator.Type]) throws {
        var vendors: [AdapterID: SimulatedVendor] = [:]
        for (id, settings) in scenario.vendors.sorted(by: { $0.key < $1.key }) {
            guard let type = simulators.first(where: { $0.id == id }) else {
                let known = simulators.map { $0.id.rawValue }.sorted().joined(separator: ", ")
                throw ModelError(
                    path: "vendors".dot(id.rawValue),
                    reason: "is not a vendor with a simulator",
                    remedy: known.isEmpty ? "Leave it out." : "Known are: \(known)."
                )
            }
            vendors[id] = try ScenarioNetwork.play(type, settings)
        }
        self.vendors = vendors
    }

    private static func play(_ type: any VendorSimulator.Type, _ settings: JSONObject) throws -> SimulatedVendor {
        do {
            return SimulatedVendor(try type.init(settings: settings))
        } catch {
            let findings = error.findings.map { finding in
                var finding = finding
                finding.path = "vendors".dot(type.id.rawValue) + (finding.path.isEmpty ? "" : ".\(finding.path)")
                return finding
            }
            throw SettingsError(findings)
        }
    }

    /// Decides what becomes of a request, once.
    func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        let fate = decide(sent)
        fates[sent.number] = fate
        return fate
    }

    private func decide(_ sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        guard isUp else { return .outcome(.failed(TransportFailure(.notSent, "offline"))) }
        if let cut, cut.request == sent.number {
            // A reply that is not the vendor's own work would come again for the repeat.
            let isScripted = (replies.first ?? standing).map { !$0.isProcessed } ?? false
            if cut.vendorWorked, !isScripted {
                if !replies.isEmpty { replies.removeFirst() }
                _ = answer(sent)
            }
            return .death
        }
        guard let reply = replies.isEmpty ? standing : replies.removeFirst() else {
            return .outcome(.replied(answer(sent)))
        }
        let answer = reply.isProcessed ? answer(sent) : WireResponse(200, json: [:])
        return .outcome(reply.outcome ?? .replied(answer), after: reply.after)
    }

    private func answer(_ sent: VirtualWorld.Sent) -> WireResponse {
        vendor(of: sent.provider)?.respond(to: sent.request, now: sent.vendorDate) ?? WireResponse(200, json: [:])
    }

    private func vendor(of provider: String) -> SimulatedVendor? {
        guard let adapter = providers[provider] else { return nil }
        return vendors[adapter] ?? vendors[AdapterID(rawValue: String(adapter.rawValue.prefix { $0 != "." }))]
    }

    /// Everything gets through, and vendors answer for themselves.
    func heal() { (isUp, replies, standing, cut) = (true, [], nil, nil) }

    /// What each vendor holds, by its id.
    var vendorStates: JSONValue {
        get throws {
            .object(
                JSONObject(try vendors.sorted { $0.key < $1.key }.map { ($0.key.rawValue, try $0.value.stateJSON) })
            )
        }
    }
}

extension Scenario.Reply {
    /// What takes the place of the vendor's own answer; nil lets it stand.
    var outcome: Outcome? {
        if let response {
            let headers = response.headers.map { WireHeader($0.0, $0.1) }
            return .replied(WireResponse(response.status, headers: headers, body: response.body))
        }
        guard let failure else { return nil }
        return .failed(TransportFailure(TransportFailure.Delivery(rawValue: failure.delivery) ?? .lost, failure.code))
    }
}
