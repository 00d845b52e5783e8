import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The network and the vendors of a scenario.
final class ScenarioNetwork {
    /// The scripted replies for the next requests, in order.
    var replies: [Scenario.Reply] = []
    /// The reply when no scripted reply is left; nil lets the vendor reply.
    var standing: Scenario.Reply?
    /// Whether the network is up.
    var isUp = true
    /// The adapter of each provider, by the provider's name.
    var providers: [String: AdapterID] = [:]
    /// The simulated vendors, by id. The APIs of a vendor share one.
    let vendors: [AdapterID: SimulatedVendor]
    /// The exchange in which the process dies.
    var interruption: ScenarioRun.Interruption?
    /// The fate of each request, by its number.
    private(set) var fates: [Int: VirtualWorld.Fate] = [:]

    init(_ scenario: Scenario, simulators: [any VendorSimulator.Type]) throws {
        var vendors: [AdapterID: SimulatedVendor] = [:]
        for (id, settings) in scenario.vendors.inOrder {
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

    /// Returns the fate of a request. It is decided once.
    func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        let fate = decide(sent)
        fates[sent.number] = fate
        return fate
    }

    private func decide(_ sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        guard isUp else { return .outcome(.failed(TransportFailure(.notSent, "offline"))) }
        if let interruption, interruption.request == sent.number {
            // If the next scripted reply belongs to a request that the vendor does not process, the vendor does not
            // process this request either. The reply stays in the list for the repeated request.
            let isScripted = (replies.first ?? standing).map { !$0.isProcessed } ?? false
            if interruption.isProcessed, !isScripted {
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

    /// Removes all faults: the network is up, and vendors reply by themselves.
    func removeFaults() { (isUp, replies, standing, interruption) = (true, [], nil, nil) }

    /// The state of each vendor, by its id.
    var vendorStates: JSONValue {
        get throws {
            .object(
                JSONObject(try vendors.inOrder.map { ($0.key.rawValue, try $0.value.stateJSON) })
            )
        }
    }
}

extension Scenario.Reply {
    /// The outcome that replaces the vendor's own reply; nil for the vendor's reply.
    var outcome: Outcome? {
        if let response {
            let headers = response.headers.map { WireHeader($0.0, $0.1) }
            return .replied(WireResponse(response.status, headers: headers, body: response.body))
        }
        guard let failure else { return nil }
        return .failed(TransportFailure(TransportFailure.Delivery(rawValue: failure.delivery) ?? .lost, failure.code))
    }
}
