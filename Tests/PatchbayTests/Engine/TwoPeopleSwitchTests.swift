import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox
import PatchbaySimulation
import Testing

/// A way to apply another configuration.
enum SwitchWay: String, CaseIterable, CustomTestStringConvertible {
    case restart, reconfigure

    var testDescription: String { rawValue }

    func apply(_ world: VirtualWorld, _ plan: RoutingPlan) throws {
        switch self {
        case .restart: try world.restart(plan)
        case .reconfigure: try world.reconfigure(plan)
        }
    }
}

@Suite("Two people and a switch") struct EngineObligationTwoPeople {
    private func plan(_ providers: RoutingPlan.Provider...) -> RoutingPlan {
        RoutingPlan(providers: providers, onSwitch: .retarget)
    }

    private func provider(_ name: String, _ mode: RoutingPlan.Mode?, courtesy: Int = 0) -> RoutingPlan.Provider {
        RoutingPlan.probe(name, mode: mode) { $0.courtesy = courtesy }.providers[0]
    }

    private func logIn(_ person: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, person)]))
    }

    /// An operation that a vendor received, the credential of its request, and the credential due to its person.
    private struct Delivery: Equatable {
        let operation: String
        let credential: String?
        let due: String
    }

    /// Two people in turn capture operations for a vendor that delays them; then another vendor replaces it.
    private func deliveries(_ way: SwitchWay) throws -> [Delivery] {
        let world = try VirtualWorld()
        world.credentials = { _, contact in contact.map { Secret("token of \($0)") } }
        try world.start(plan(provider("a", .live, courtesy: 100_000), provider("b", nil)))
        var due: [String: String] = [:]
        func capture(_ action: Action, _ person: String?) throws {
            let operation = try world.capture(action, contact: person)
            due[operation.id.rawValue] = person.map { "token of \($0)" } ?? "anonymous"
        }
        try capture(logIn("anna"), "anna")
        try capture(.set("tier", "gold"), "anna")
        try capture(.event("of anna"), "anna")
        try capture(.switchContact(ContactSwitch(.logOut)), nil)
        try capture(.event("anonymous"), nil)
        try capture(logIn("bo"), "bo")
        try capture(.event("of bo"), "bo")
        #expect(world.sent.isEmpty)
        try way.apply(world, plan(provider("b", .live), provider("a", nil)))
        #expect(try world.drain())
        for account in try world.accounts() { #expect(account.balances, "\(account.provider)") }
        let deliveries = world.sent.filter { $0.provider == "b" }.flatMap { sent in
            // The switch creates its operations for the current contact.
            sent.operations.map {
                Delivery(
                    operation: $0.rawValue,
                    credential: sent.request[header: "Authorization"],
                    due: due[$0.rawValue] ?? "token of bo"
                )
            }
        }
        #expect(Set(due.keys).isSubset(of: deliveries.map(\.operation)))
        return deliveries
    }

    @Test(arguments: SwitchWay.allCases) func `sends each person's operations with that person's credential only (E13)`(
        _ way: SwitchWay
    ) throws {
        for one in try deliveries(way) { #expect(one.credential == one.due, "\(one.operation)") }
    }

    @Test(arguments: SwitchWay.allCases)
    func `a provider that returns receives the log-out that happened at another provider`(_ way: SwitchWay) throws {
        let border = 5_000
        let subject: Subject = "installation-1"
        func isLow(_ name: String) -> Bool { Share.place(of: name) < border }
        let isLowWithout = isLow(subject.rawValue)
        let anna = try #require((0..<100).map { "anna-\($0)" }.first { isLow($0) != isLowWithout })
        let (own, other) = (
            isLowWithout ? border..<Share.count : 0..<border, isLowWithout ? 0..<border : border..<Share.count
        )
        func part(_ name: String, _ places: Range<Int>) -> RoutingPlan.Provider {
            var provider = provider(name, .percentage, courtesy: name == "a" ? 100_000 : 0)
            provider.share = Share(places)
            return provider
        }
        let world = try VirtualWorld()
        try world.start(plan(provider("a", .live, courtesy: 100_000), provider("b", nil)))
        try world.capture(logIn(anna), contact: anna)
        try world.capture(.switchContact(ContactSwitch(.logOut)))
        try way.apply(world, plan(part("a", own), part("b", other)))
        try way.apply(world, plan(provider("a", .live, courtesy: 100_000), provider("b", nil)))
        #expect(try world.drain())
        let changes = try world.sent.filter { $0.provider == "a" }
            .map { try EngagementOperation(jsonBytes: $0.request.body) }
            .filter { $0.action.kind == .switchContact }
        #expect(changes.first?.contact == anna)
        #expect(changes.last?.action == .switchContact(ContactSwitch(.logOut)))
        for account in try world.accounts() { #expect(account.balances, "\(account.provider)") }
    }
}
