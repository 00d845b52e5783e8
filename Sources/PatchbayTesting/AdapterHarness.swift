public import Foundation
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbaySimulation
import Testing

/// An adapter under test: its settings, its vendor played in memory, its samples and its goldens.
public struct AdapterHarness<Adapter: VendorAdapter>: Sendable {
    /// The adapter.
    public let adapter: Adapter
    /// The settings as a configuration holds them.
    public let settings: JSONObject
    /// What the app gives for every contact.
    public let credential: Secret?
    /// People and orders as this API sees them.
    public let corpus: Corpus
    /// The corpus's samples and the adapter's own.
    public private(set) var samples: [Sample]
    /// The adapter's goldens.
    public let goldens: Goldens
    /// The folder with the vendor's wire records as JSON Schemas; without an `index.json` in it there are none.
    public let wireSchemas: URL
    /// What happened before each sample that does not start afresh.
    public let preparation: [EngagementOperation]
    /// A final no of this vendor; nil where the vendor's law has none.
    public let refusal: WireResponse?
    /// The rule by which the status alone is a yes, by endpoint: whatever a success says in its body, nobody looks.
    public let statusAlone: [String: RuleID]
    /// What the memory claims of the vendor, and what the vendor holds.
    public let expectedState: ExpectedState?
    /// Answers of the vendor that its reply table tells apart by more than the status.
    public let replies: [SampleReply]
    /// Endpoints whose yes may be a web page, as far as the vendor's sheet says.
    public let pages: Set<String>
    /// Opaque values that the vendor hands over and wants back.
    public let echoes: [Echo]
    /// Members and headers of the vendor's replies whose texts are secrets: tokens that it hands out.
    public let handedOut: Set<String>
    /// Texts of the samples that show as little as secrets: a push token that a memory holds as one.
    public let watched: [String]
    /// Why there is nothing secret to look for; nil where there is something.
    public let withoutSecrets: String?
    /// One stored memory and step per state version.
    public let storedStates: [StoredState]
    /// Samples that can't pass a check, each with the vendor's rule that forbids it.
    public let exemptions: [Exemption]
    private(set) var representatives: [Sample]
    let cache = DriveCache()
    /// What the preparation leaves behind: it is played once for all drives that begin with it.
    private let preparations = OnceCache<Script.Preparation, SampleRun<Adapter>.Prepared?>()
    /// The vendor's other side; nil where the vendor is played by answers alone.
    let simulatorType: (any VendorSimulator.Type)?
    let makeVendor: @Sendable () -> any PlayedVendor

    /// An adapter under test.
    ///
    /// - Parameters:
    ///   - type: the adapter, where nothing else says it.
    ///   - settings: what a configuration holds, secrets filled in.
    ///   - credential: what the app gives for every contact.
    ///   - pushPayload: a push message as this vendor sends it.
    ///   - readBack: a question in the adapter's words.
    ///   - simulator: the vendor, played; without one `answer` says yes to everything.
    ///   - answer: the yes of a vendor without a simulator, by endpoint.
    ///   - refusal: a final no of this vendor; nil where its law has none.
    ///   - statusAlone: the rule by which the status alone is a yes, by endpoint; elsewhere an error inside a success is reported.
    ///   - preparation: what happened before each sample; by default a device API registers and logs in.
    ///   - extras: samples of the adapter alone.
    ///   - expectedState: what the memory claims of the vendor, and what the vendor holds; needed where there is both a memory
    ///     and a simulator.
    ///   - replies: answers of the vendor that its reply table tells apart by more than the status.
    ///   - pages: endpoints whose yes may be a web page, as far as the vendor's sheet says.
    ///   - echoes: opaque values that the vendor hands over and wants back.
    ///   - handedOut: members and headers of the vendor's replies whose texts are secrets: tokens that it hands out.
    ///   - watched: texts of the samples that show as little as secrets: a push token that a memory holds as one.
    ///   - withoutSecrets: why there is nothing secret to look for; nil where there is something.
    ///   - storedStates: one stored memory and step per state version.
    ///   - exemptions: samples that can't pass a check, each with the vendor's rule that forbids it.
    ///   - goldens: where the goldens are.
    ///   - wireSchemas: where the wire records' schemas are; by default `Schemas/wire/<vendor>` of the repository whose
    ///     `Adapters/<Vendor>/Goldens` the goldens are.
    /// - Throws: ``SettingsError`` if the settings can't be used.
    public init(
        _ type: Adapter.Type = Adapter.self,
        settings: JSONObject,
        credential: Secret? = nil,
        pushPayload: JSONObject = Corpus.plainPush,
        readBack: ReadRequest = ReadRequest("profile"),
        simulator: (any VendorSimulator)? = nil,
        answer: @escaping @Sendable (String, WireRequest) -> WireResponse = { _, _ in WireResponse(200, json: [:]) },
        refusal: WireResponse? = WireResponse(400, json: [:]),
        statusAlone: [String: RuleID] = [:],
        preparation: [EngagementOperation]? = nil,
        extras: [Sample] = [],
        expectedState: ExpectedState? = nil,
        replies: [SampleReply] = [],
        pages: Set<String> = [],
        echoes: [Echo] = [],
        handedOut: Set<String> = [],
        watched: [String] = [],
        withoutSecrets: String? = nil,
        storedStates: [StoredState] = [],
        exemptions: [Exemption] = [],
        goldens: Goldens,
        wireSchemas: URL? = nil
    ) throws(SettingsError) {
        adapter = try AdapterHarness.make(settings)
        (self.settings, self.credential, self.refusal) = (settings, credential, refusal)
        self.statusAlone = statusAlone
        (self.handedOut, self.watched, self.withoutSecrets) = (handedOut, watched, withoutSecrets)
        corpus = Corpus(side: Adapter.descriptor.side, pushPayload: pushPayload, readBack: readBack)
        samples = corpus.samples + extras
        representatives = samples.representatives
        (self.goldens, self.storedStates, self.exemptions) = (goldens, storedStates, exemptions)
        (self.expectedState, self.replies, self.pages, self.echoes) = (expectedState, replies, pages, echoes)
        let family = String(Adapter.descriptor.id.rawValue.prefix { $0 != "." && $0 != "-" })
        self.wireSchemas =
            wireSchemas
            ?? goldens.folder.appendingPathComponent("../../../Schemas/wire/\(family)").standardizedFileURL
        self.preparation = preparation ?? (Adapter.descriptor.side == .device ? corpus.installation : [])
        simulatorType = simulator.map { Swift.type(of: $0) }
        makeVendor = {
            if let simulator { AdapterHarness.play(simulator) } else { AnsweringVendor(answer: answer) }
        }
    }

    var adapterType: any VendorAdapter.Type { Adapter.self }

    /// The harness with some of its samples: enough where one of them shows a fault.
    package func limited(to names: Set<String>) -> AdapterHarness {
        var harness = self
        harness.samples = samples.filter { names.contains($0.name) }
        harness.representatives = harness.samples.representatives
        return harness
    }

    /// One sample as its golden shows it: what leaves, or why nothing leaves.
    public func text(of sample: Sample) -> String {
        let drive = drive(sample)
        return drive.sent.isEmpty ? drive.refusalText : drive.requestText(hiding: secrets)
    }

    private static func make(_ settings: JSONObject) throws(SettingsError) -> Adapter {
        try Adapter(settings: Adapter.Settings.table.read(settings, over: Adapter.Settings(), at: "settings"))
    }

    private static func play(_ simulator: some VendorSimulator) -> any PlayedVendor { SimulatedVendor(simulator) }
}

/// What conformance checks need of a harness, whatever its adapter.
protocol ConformanceSubject: Sendable {
    var descriptor: AdapterDescriptor { get }
    var corpus: Corpus { get }
    var samples: [Sample] { get }
    /// The first sample of each set of kinds, alone and in a row: enough where the vendor, not the value, makes the
    /// difference.
    var representatives: [Sample] { get }
    var goldens: Goldens { get }
    var wireSchemas: URL { get }
    var settings: JSONObject { get }
    var refusal: WireResponse? { get }
    var statusAlone: [String: RuleID] { get }
    var storedStates: [StoredState] { get }
    var replies: [SampleReply] { get }
    var pages: Set<String> { get }
    var echoes: [Echo] { get }
    var handedOut: Set<String> { get }
    var watched: [String] { get }
    var withoutSecrets: String? { get }
    /// Whether the harness gives what the app would give for a contact.
    var hasCredential: Bool { get }
    /// What memory claims and what the vendor holds; nil where nobody tells.
    var expectedState: ExpectedState? { get }
    /// Whether the vendor is played by a simulator.
    var hasSimulator: Bool { get }
    /// The endpoints whose sends must not be forgotten.
    var journaledEndpoints: Set<String> { get }
    /// Plays a scenario, its exchanges cut as it is said.
    func play(_ scenario: Scenario, cutting cut: ScenarioRun.Cut?) throws -> Stage.Played
    /// What the vendor holds of what the operations change, in a simulator's state; nil where nobody tells.
    func held(_ state: any Sendable) -> JSONObject?
    var exemptions: [Exemption] { get }
    /// What several checks look at.
    var cache: DriveCache { get }
    /// Secrets in settings and credential.
    var secrets: [String] { get }
    var endpoints: [String] { get }
    var settingNames: [(name: String, isRequired: Bool, rule: RuleID?)] { get }
    var remembersSomething: Bool { get }

    func drive(_ operations: [EngagementOperation], _ script: Script) -> Drive
    func drive(turns: [Turn], _ script: Script) -> Drive
    /// What the adapter makes of each outcome of one request, the memory as it was before it.
    func read(
        _ outcomes: [Outcome],
        as number: Int,
        of operations: [EngagementOperation],
        _ script: Script
    ) -> [Reading]
    func examine(_ operation: EngagementOperation) -> [Finding]
    /// What another adapter with the same settings finds in each operation; nil if there can be none.
    func examineByAnotherAdapter(_ operations: [EngagementOperation]) -> [[Finding]]?
    func place(_ operation: EngagementOperation) -> Place
    /// What is wrong with these settings.
    func findings(in settings: JSONObject) -> [Finding]
    /// Why a stored state can't be restored; nil if it can.
    func problem(restoring state: StoredState) -> String?
}

extension ConformanceSubject {
    /// A sample before a vendor that behaves so; done once, however many checks ask. The drives in which checks look for
    /// secrets keep descriptions.
    func drive(_ sample: Sample, before play: Play) -> Drive {
        cache.value("\(sample.name) \(play.name)") {
            drive(sample) { script in
                play.set(&script, refusal)
                script.keepsDescriptions = play.isUsual && isRepresentative(sample)
            }
        }
    }

    func isRepresentative(_ sample: Sample) -> Bool { representatives.contains { $0.name == sample.name } }

    func drive(_ sample: Sample, before play: Play, isPrepared: Bool) -> Drive {
        guard isPrepared == sample.startsAfresh else { return drive(sample, before: play) }
        return cache.value("\(sample.name) \(play.name) \(isPrepared)") {
            drive(sample) { script in
                play.set(&script, refusal)
                script.isPrepared = isPrepared
            }
        }
    }

    /// Every sample before a vendor that answers, and the representatives before one that fails.
    private var usualPlays: [(sample: Sample, play: Play)] {
        samples.flatMap { sample in [Play.accepting, .refusing].map { (sample, $0) } }
            + representatives.flatMap { sample in Play.failing.map { (sample, $0) } }
    }

    /// The drives of the usual samples and vendors. A drive is made when it is asked for.
    var usualDrives: some Sequence<(sample: Sample, drive: Drive)> {
        usualPlays.lazy.map { (sample: $0.sample, drive: drive($0.sample, before: $0.play)) }
    }

    /// Makes some of the usual drives, so that checks that run at the same time do not wait for each other: every second
    /// caller begins at the end.
    func makeUsualDrives() {
        guard cache.isSecondCaller() else { return }
        for (sample, play) in usualPlays.reversed() { _ = drive(sample, before: play) }
    }

    func drive(_ sample: Sample, _ change: (inout Script) -> Void = { _ in }) -> Drive {
        var script = Script(isPrepared: !sample.startsAfresh)
        change(&script)
        return drive(sample.operations, script)
    }
}

extension [Sample] {
    /// The first sample of each set of kinds.
    fileprivate var representatives: [Sample] {
        var seen: Set<[String]> = []
        return filter { sample in
            let kinds = sample.operations.map { operation in
                if case .track(let event) = operation.action {
                    event.kind.rawValue
                } else {
                    operation.action.kind.rawValue
                }
            }
            let sort = Set(kinds).sorted() + [sample.startsAfresh ? "afresh" : "", kinds.count > 1 ? "in a row" : ""]
            return seen.insert(sort).inserted
        }
    }
}

extension AdapterHarness: ConformanceSubject {
    var descriptor: AdapterDescriptor { Adapter.descriptor }
    var endpoints: [String] { Adapter.Endpoint.allCases.map(\.rawValue) }
    var remembersSomething: Bool { Adapter.Memory.self != NoMemory.self }

    var secrets: [String] {
        Adapter.Settings.table.secretNames.compactMap { settings[$0]?.string } + [credential?.value].compactMap { $0 }
    }

    var settingNames: [(name: String, isRequired: Bool, rule: RuleID?)] {
        Adapter.Settings.table.rows.map { ($0.name, $0.isRequired, $0.rule) }
    }

    var hasCredential: Bool { credential?.value.isEmpty == false }
    var hasSimulator: Bool { simulatorType != nil }

    var journaledEndpoints: Set<String> {
        Set(Adapter.Endpoint.allCases.filter(\.isJournaled).map(\.rawValue))
    }

    func drive(_ operations: [EngagementOperation], _ script: Script) -> Drive {
        drive(turns: [Turn(operations: operations)], script)
    }

    func drive(turns: [Turn], _ script: Script) -> Drive {
        run(turns, script)?.drive ?? Drive()
    }

    /// A run before a vendor that knows what happened before, if the script says so; nil if the engine fails.
    func run(_ turns: [Turn], _ script: Script) -> SampleRun<Adapter>? {
        let prepared = preparations.value(script.preparation) {
            recordingErrors {
                try SampleRun(
                    adapter,
                    credential: credential,
                    vendor: makeVendor(),
                    expected: expectedState,
                    script: script
                )
                .prepare(script.isPrepared ? preparation : [])
            }
        }
        guard let prepared else { return nil }
        return recordingErrors {
            let run = try SampleRun(adapter, credential: credential, continuing: prepared, script: script)
            for turn in turns { try run.deliver(turn.operations, requests: turn.requests) }
            return run
        }
    }

    /// Runs what fails only if the engine does.
    private func recordingErrors<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            Issue.record("The engine failed: \(error)")
            return nil
        }
    }

    func play(_ scenario: Scenario, cutting cut: ScenarioRun.Cut?) throws -> Stage.Played {
        try Stage(self).play(scenario, cutting: cut)
    }

    func held(_ state: any Sendable) -> JSONObject? { expectedState.flatMap { $0.held(in: state) } }

    func examine(_ operation: EngagementOperation) -> [Finding] { adapter.examine(operation) }

    func examineByAnotherAdapter(_ operations: [EngagementOperation]) -> [[Finding]]? {
        (try? AdapterHarness.make(settings)).map { operations.map($0.examine) }
    }

    func place(_ operation: EngagementOperation) -> Place { adapter.place(operation) }

    func findings(in settings: JSONObject) -> [Finding] {
        do {
            _ = try AdapterHarness.make(settings)
            return []
        } catch {
            return error.findings
        }
    }

    func problem(restoring state: StoredState) -> String? {
        do {
            let json = try Adapter.upgrade(state.json, of: state.part, from: state.version)
            switch state.part {
            case .memory: _ = try JSONDecoder().decode(Adapter.Memory.self, from: Data(json.text.utf8))
            case .step: _ = try JSONDecoder().decode(Adapter.Step.self, from: Data(json.text.utf8))
            }
            return nil
        } catch {
            return "The stored \(state.part.rawValue) of version \(state.version) can't be read: \(type(of: error))."
        }
    }
}
