import PatchbayModel
import Testing

/// Merging never allows more than any source does, in any order of the sources.
@Suite("Merged consents") struct ConsentMergeTests {
    private static let purposes: [Purpose] = ["tracking", "messaging"]
    private static let channels: [Channel?] = [nil, .push, .sms]

    /// Returns four sources with up to four consent decisions each.
    private func sources(_ seed: UInt64) -> [[Consent]] {
        var random = Numbers(state: seed)
        return (0..<4).map { _ in
            (0..<random.below(5)).map { _ in
                Consent(
                    purpose: Self.purposes[random.below(2)],
                    channel: Self.channels[random.below(3)],
                    state: Consent.State.allCases[random.below(3)],
                    changedAt: random.below(3) == 0 ? nil : Timestamp(seconds: Int64(random.below(4)))
                )
            }
        }
    }

    /// Returns the state of a scope. Of several decisions for a scope, the most protective counts.
    private func state(of decisions: [Consent], for scope: Consent.Scope) -> Consent.State {
        func stated(_ scope: Consent.Scope) -> Consent.State? {
            decisions.filter { $0.scope == scope }.map(\.state).min()
        }
        return stated(scope) ?? stated(Consent.Scope(scope.purpose)) ?? .unknown
    }

    private func permutations<Element>(_ list: [Element]) -> [[Element]] {
        guard list.count > 1 else { return [list] }
        return list.indices.flatMap { place in
            var rest = list
            let first = rest.remove(at: place)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test(arguments: [1...100, 101...200])
    func `merging in any order and grouping never allows more than a source`(_ seeds: ClosedRange<UInt64>) {
        for seed in seeds {
            let sources = sources(seed)
            let merged = Consent.merged(sources)
            for order in permutations(sources) {
                #expect(Consent.merged(order) == merged, "seed \(seed)")
                for cut in 1..<order.count {
                    let groups = [Array(order[..<cut]), Array(order[cut...])].map { Consent.merged($0) }
                    #expect(Consent.merged(groups) == merged, "seed \(seed), cut \(cut)")
                }
            }
            #expect(Consent.merged([merged]) == merged, "seed \(seed)")
            #expect(Consent.merged([merged] + sources) == merged, "seed \(seed)")
            // Also for scopes without a decision in any source.
            for purpose in Self.purposes + ["ads"] {
                for channel in Self.channels + [.email] {
                    let scope = Consent.Scope(purpose, channel: channel)
                    let least = sources.map { state(of: $0, for: scope) }.min()
                    #expect(state(of: merged, for: scope) == least, "seed \(seed): \(scope)")
                }
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sources: [[Consent]]
        let merged: [Consent]

        init(_ name: String, _ sources: [[Consent]], _ merged: [Consent]) {
            (testDescription, self.sources, self.merged) = (name, sources, merged)
        }
    }

    private static func decision(_ state: Consent.State, _ second: Int64? = nil) -> Consent {
        decision(nil, state, second)
    }

    private static func decision(_ channel: Channel?, _ state: Consent.State, _ second: Int64? = nil) -> Consent {
        Consent(
            purpose: .messaging,
            channel: channel,
            state: state,
            changedAt: second.flatMap { Timestamp(seconds: $0) }
        )
    }

    private static let rows = [
        Row("no sources", [], []),
        Row(
            "an opt-out wins over a newer opt-in",
            [[decision(.denied, 1)], [decision(.granted, 9)]],
            [decision(.denied, 1)]
        ),
        Row("a source without values counts as unknown", [[decision(.granted, 1)], []], []),
        Row(
            "an opt-in for a channel below an opt-out of another source",
            [[decision(.denied)], [decision(.sms, .granted, 9)]],
            [decision(.denied)]
        ),
        Row(
            "an opt-out for a channel below an opt-in of another source",
            [[decision(.granted, 1)], [decision(.granted, 2), decision(.sms, .denied, 3)]],
            [decision(.granted, 1), decision(.sms, .denied, 3)]
        ),
        Row("two denials: the newer time", [[decision(.denied, 1)], [decision(.denied, 2)]], [decision(.denied, 2)]),
        Row(
            "two opt-ins: the older time",
            [[decision(.granted, 1)], [decision(.granted, 2)]],
            [decision(.granted, 1)]
        ),
        Row(
            "an opt-in without a time is the oldest",
            [[decision(.granted)], [decision(.granted, 2)]],
            [decision(.granted)]
        ),
    ]

    @Test(arguments: rows) func `the most protective consent decision wins`(_ row: Row) {
        #expect(Consent.merged(row.sources) == row.merged)
        #expect(Consent.merged(row.sources.reversed()) == row.merged)
    }

    @Test
    func `a later decision for all channels revokes channel opt-ins and keeps channel opt-outs`() {
        func snapshot(_ decisions: Consent...) -> SubjectSnapshot {
            var snapshot = SubjectSnapshot()
            for decision in decisions {
                snapshot.apply(
                    EngagementOperation(
                        id: "op",
                        subject: "s",
                        capturedAt: Instant(milliseconds: 0),
                        action: .setConsent(decision)
                    )
                )
            }
            return snapshot
        }
        let optInThenOptOut = snapshot(Self.decision(.sms, .granted), Self.decision(.denied))
        #expect(optInThenOptOut.consent(for: .messaging, channel: .sms) == .denied)
        let optOutThenOptIn = snapshot(Self.decision(.sms, .denied), Self.decision(.granted))
        #expect(optOutThenOptIn.consent(for: .messaging, channel: .sms) == .denied)
        #expect(optOutThenOptIn.consent(for: .messaging, channel: .email) == .granted)
        let optOutThenChannelOptIn = snapshot(Self.decision(.denied), Self.decision(.sms, .granted))
        #expect(optOutThenChannelOptIn.consent(for: .messaging, channel: .sms) == .granted)
        #expect(optOutThenChannelOptIn.consent(for: .messaging) == .denied)
        let reset = snapshot(Self.decision(.sms, .granted), Self.decision(.email, .denied), Self.decision(.unknown))
        #expect(reset.consent(for: .messaging, channel: .sms) == .unknown)
        #expect(reset.consent(for: .messaging, channel: .email) == .denied)
    }
}

/// A random number generator with a fixed sequence for a seed (SplitMix64).
private struct Numbers {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
