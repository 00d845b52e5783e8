import PatchbayModel
import Testing

/// Merging never allows more than any source does, whoever comes first.
@Suite("Merged consents") struct ConsentMergeTests {
    private static let purposes: [Purpose] = ["tracking", "messaging"]
    private static let channels: [Channel?] = [nil, .push, .sms]

    /// Sources of one to four words each; some say nothing at all.
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

    /// What a list of words allows; several words on the same thing count as the most protective.
    private func answer(_ words: [Consent], _ scope: Consent.Scope) -> Consent.State {
        func said(_ scope: Consent.Scope) -> Consent.State? { words.filter { $0.scope == scope }.map(\.state).min() }
        return said(scope) ?? said(Consent.Scope(scope.purpose)) ?? .unknown
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
    func `any order and any grouping give the same, and never more than a source allows`(_ seeds: ClosedRange<UInt64>) {
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
            // Also for what no source and no merge has a word for.
            for purpose in Self.purposes + ["ads"] {
                for channel in Self.channels + [.email] {
                    let scope = Consent.Scope(purpose, channel: channel)
                    let least = sources.map { answer($0, scope) }.min()
                    #expect(answer(merged, scope) == least, "seed \(seed): \(scope)")
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

    private static func word(_ state: Consent.State, _ second: Int64? = nil) -> Consent { word(nil, state, second) }

    private static func word(_ channel: Channel?, _ state: Consent.State, _ second: Int64? = nil) -> Consent {
        Consent(
            purpose: .messaging,
            channel: channel,
            state: state,
            changedAt: second.flatMap { Timestamp(seconds: $0) }
        )
    }

    private static let rows = [
        Row("nobody", [], []),
        Row("a newer yes does not win over a no", [[word(.denied, 1)], [word(.granted, 9)]], [word(.denied, 1)]),
        Row("who says nothing says unknown", [[word(.granted, 1)], []], []),
        Row("a yes for a channel under another's no", [[word(.denied)], [word(.sms, .granted, 9)]], [word(.denied)]),
        Row(
            "a no for a channel under another's yes",
            [[word(.granted, 1)], [word(.granted, 2), word(.sms, .denied, 3)]],
            [word(.granted, 1), word(.sms, .denied, 3)]
        ),
        Row("two who say no: the newer time", [[word(.denied, 1)], [word(.denied, 2)]], [word(.denied, 2)]),
        Row("two who say yes: the older time", [[word(.granted, 1)], [word(.granted, 2)]], [word(.granted, 1)]),
        Row("a yes without a time is the oldest", [[word(.granted)], [word(.granted, 2)]], [word(.granted)]),
    ]

    @Test(arguments: rows) func `the most protective answer counts`(_ row: Row) {
        #expect(Consent.merged(row.sources) == row.merged)
        #expect(Consent.merged(row.sources.reversed()) == row.merged)
    }

    @Test
    func `in the subject snapshot a later word for every channel takes back what allowed more, and gives nothing`() {
        func snapshot(_ words: Consent...) -> SubjectSnapshot {
            var snapshot = SubjectSnapshot()
            for word in words {
                snapshot.apply(
                    EngagementOperation(
                        id: "op",
                        subject: "s",
                        capturedAt: Instant(milliseconds: 0),
                        action: .setConsent(word)
                    )
                )
            }
            return snapshot
        }
        let yesThenNo = snapshot(Self.word(.sms, .granted), Self.word(.denied))
        #expect(yesThenNo.consent(for: .messaging, channel: .sms) == .denied)
        let noThenYes = snapshot(Self.word(.sms, .denied), Self.word(.granted))
        #expect(noThenYes.consent(for: .messaging, channel: .sms) == .denied)
        #expect(noThenYes.consent(for: .messaging, channel: .email) == .granted)
        let noThenOne = snapshot(Self.word(.denied), Self.word(.sms, .granted))
        #expect(noThenOne.consent(for: .messaging, channel: .sms) == .granted)
        #expect(noThenOne.consent(for: .messaging) == .denied)
        let reset = snapshot(Self.word(.sms, .granted), Self.word(.email, .denied), Self.word(.unknown))
        #expect(reset.consent(for: .messaging, channel: .sms) == .unknown)
        #expect(reset.consent(for: .messaging, channel: .email) == .denied)
    }
}

/// Random numbers that are the same everywhere (SplitMix64).
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
