import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Synchronization
import Testing

@testable import PatchbaySalesforce

/// The counterpart of the vendor SDK's registration callback: an app awaits a receipt, and cancels to stop observing.
@Suite("Salesforce through the client") struct ClientTests {
    /// The vendor behind a transport. It is closed until the test opens it and so decides when the reply comes.
    private final class Vendor: Transport {
        private struct State {
            var account: SalesforceAccount
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let simulator: SalesforceSimulator
        private let state: Mutex<State>

        init() throws {
            simulator = try SalesforceSimulator(settings: [:])
            state = Mutex(State(account: simulator.initialState))
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                return state.waiting
            }
            waiting.forEach { $0.resume() }
        }

        func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
            return .replied(
                state.withLock { simulator.respond(to: request, state: &$0.account, now: TestDriver.wall) }
            )
        }

        var registration: JSONValue? { state.withLock { $0.account.devices.first?.registration } }
    }

    private func client(_ vendor: Vendor) async throws -> EngagementClient {
        let plan = RoutingPlan(providers: [.init(name: "push", adapter: try TestDriver.adapter(), mode: .live)])
        return try await EngagementClient(outbox: .memory, subject: TestDriver.subject, plan: plan, transport: vendor)
    }

    @Test func `a receipt returns the registration that the vendor received`() async throws {
        let vendor = try Vendor()
        let client = try await client(vendor)
        let receipt = try client.capture(.registerDevice(.sample))
        vendor.open()
        let outcome = try await receipt.outcome(on: "push")
        #expect(outcome.term == .accepted)
        #expect(outcome.finding?.code == "salesforce.contactKey.lacking")
        #expect(outcome.answer != nil && outcome.answer == vendor.registration)
        // A second wait returns the same outcome.
        #expect(try await receipt.outcome(on: "push").answer == outcome.answer)
        await client.close()
    }

    @Test func `sends the registration even if the caller stops waiting`() async throws {
        let vendor = try Vendor()
        let client = try await client(vendor)
        let receipt = try client.capture(.registerDevice(.sample))
        try await receipt.durable()
        let callback = Task { try await receipt.outcome(on: "push") }
        callback.cancel()
        await #expect(throws: CancellationError.self) { try await callback.value }
        vendor.open()
        #expect(try await receipt.outcome(on: "push").term == .accepted)
        #expect(vendor.registration != nil)
        await client.close()
    }
}
