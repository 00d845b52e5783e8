public import Foundation
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbaySimulation
import Testing

/// An adapter under test, with its settings, a simulated vendor, samples and goldens.
public struct AdapterHarness<Adapter: VendorAdapter>: Sendable {
    /// The adapter.
    public let adapter: Adapter
    /// The adapter's settings, as in a configuration.
    public let settings: JSONObject
    /// The credential that the app provides for every contact; nil for none.
    public let credential: Secret?
    /// The samples' people and orders in the form that this API needs.
    public let corpus: Corpus
    /// The samples of the corpus and of the adapter.
    public private(set) var samples: [Sample]
    /// The adapter's goldens.
    public let goldens: Goldens
    /// The folder with the JSON Schemas of the vendor's wire records. A folder without an `index.json` counts as empty.
    public let wireSchemas: URL
    /// The operations that are delivered before each sample, unless the sample starts afresh.
    public let preparation: [EngagementOperation]
    /// A reply by which this vendor refuses a request permanently; nil if the vendor has no such reply.
    public let refusal: WireResponse?
    /// The rule that makes the status alone decide about success, by endpoint. The adapter ignores the body of such a
    /// reply.
    public let statusAlone: [String: RuleID]
    /// The expected vendor state in the memory, and the actual state of the simulator to compare it with.
    public let expectedState: ExpectedState?
    /// Replies of the vendor that the reply table distinguishes by more than their status.
    public let replies: [SampleReply]
    /// Endpoints whose successful reply may be a web page, by the vendor's documentation.
    public let pages: Set<String>
    /// Opaque values that the vendor sends and expects back.
    public let echoes: [Echo]
    /// Members and headers of the vendor's replies that contain secrets, such as tokens that the vendor issues.
    public let handedOut: Set<String>
    /// Texts of the samples that must stay hidden like secrets, such as a push token that a memory holds as a secret.
    public let watched: [String]
    /// The reason that the adapter has no secrets; nil if it has some.
    public let withoutSecrets: String?
    /// One stored memory and one stored step for each state version.
    public let storedStates: [StoredState]
    /// Samples that cannot pass a check, each with the vendor's rule that prevents it.
    public let exemptions: [Exemption]
    private(set) var representatives: [Sample]
    let cache = DriveCache()
    /// The state after each preparation. A preparation runs once for all drives that begin with it.
    private let preparations = OnceCache<Script.Preparation, SampleRun<Adapter>.Prepared?>()
    /// The type of the vendor simulator; nil if a closure answers requests.
    let simulatorType: (any VendorSimulator.Type)?
    let makeVendor: @Sendable () -> any PlayedVendor

    /// Creates an adapter under test.
    ///
    /// - Parameters:
    ///   - type: The adapter, if no other argument determines it.
    ///   - settings: The adapter's settings as in a configuration, with secrets.
    ///   - credential: The credential that the app provides for every contact.
    ///   - samples: The samples' parts that are particular to this vendor.
    ///   - vendor: The vendor's replies.
    ///   - memory: Facts about the adapter's memory.
    ///   - secrets: The places of the vendor's secrets beside those of the settings.
    ///   - exemptions: Samples that cannot pass a check, each with the vendor's rule that prevents it.
    ///   - goldens: The folder of the goldens.
    ///   - wireSchemas: The folder of the wire records' schemas. The default is `Schemas/wire/<vendor>` in the
    ///     repository of the goldens in `Adapters/<Vendor>/Goldens`.
    /// - Throws: ``SettingsError`` if the settings are invalid.
    public init(
        _ type: Adapter.Type = Adapter.self,
        settings: JSONObject,
        credential: Secret? = nil,
        samples: VendorSamples = VendorSamples(),
        vendor: VendorReplies = VendorReplies(),
        memory: MemoryFacts = MemoryFacts(),
        secrets: SecretFacts = SecretFacts(),
        exemptions: [Exemption] = [],
        goldens: Goldens,
        wireSchemas: URL? = nil
    ) throws(SettingsError) {
        adapter = try AdapterHarness.make(settings)
        (self.settings, self.credential, self.exemptions) = (settings, credential, exemptions)
        (refusal, statusAlone, replies) = (vendor.refusal, vendor.statusAlone, vendor.replies)
        (pages, echoes) = (vendor.pages, vendor.echoes)
        (handedOut, watched, withoutSecrets) = (secrets.handedOut, secrets.watched, secrets.reasonForNone)
        (expectedState, storedStates) = (memory.expected, memory.stored)
        corpus = Corpus(
            side: Adapter.descriptor.side,
            pushPayload: samples.pushPayload,
            readBack: samples.readBack
        )
        self.samples = corpus.samples + samples.extras
        representatives = self.samples.representatives
        self.goldens = goldens
        let family = String(Adapter.descriptor.id.rawValue.prefix { $0 != "." && $0 != "-" })
        self.wireSchemas =
            wireSchemas
            ?? goldens.folder.appendingPathComponent("../../../Schemas/wire/\(family)").standardizedFileURL
        preparation = samples.preparation ?? (Adapter.descriptor.side == .device ? corpus.installation : [])
        simulatorType = vendor.simulator.map { Swift.type(of: $0) }
        makeVendor = {
            if let simulator = vendor.simulator {
                AdapterHarness.play(simulator)
            } else {
                AnsweringVendor(answer: vendor.answer)
            }
        }
    }

    var adapterType: any VendorAdapter.Type { Adapter.self }

    /// Returns a harness with some of the samples, for tests in which one of them shows the fault.
    package func limited(to names: Set<String>) -> AdapterHarness {
        var harness = self
        harness.samples = samples.filter { names.contains($0.name) }
        harness.representatives = harness.samples.representatives
        return harness
    }

    /// Returns the golden text of a sample: the requests, or the reasons that nothing is sent.
    public func text(of sample: Sample) -> String {
        let drive = drive(sample)
        return drive.sent.isEmpty ? drive.refusalText : drive.requestText(hiding: secrets)
    }

    private static func make(_ settings: JSONObject) throws(SettingsError) -> Adapter {
        try Adapter(settings: Adapter.Settings.table.read(settings, over: Adapter.Settings(), at: "settings"))
    }

    private static func play(_ simulator: some VendorSimulator) -> any PlayedVendor { SimulatedVendor(simulator) }
}

/// The parts of a harness that conformance checks need, without the adapter's type.
protocol ConformanceSubject: Sendable {
    var descriptor: AdapterDescriptor { get }
    var corpus: Corpus { get }
    var samples: [Sample] { get }
    /// The first sample of each set of kinds, for checks in which the vendor's behavior matters and not the values.
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
    /// Whether the harness has a credential for contacts.
    var hasCredential: Bool { get }
    /// The expected vendor state and the actual one; nil if the harness has none.
    var expectedState: ExpectedState? { get }
    /// Whether the harness has a vendor simulator.
    var hasSimulator: Bool { get }
    /// The endpoints whose requests are journaled.
    var journaledEndpoints: Set<String> { get }
    /// Runs a scenario, with an interruption in addition to its own.
    func play(_ scenario: Scenario, interruptedBy interruption: ScenarioRun.Interruption?) throws -> Stage.Played
    /// Returns the part of a simulator's state that operations change; nil if the harness has no expected vendor state.
    func vendorState(_ state: any Sendable) -> JSONObject?
    var exemptions: [Exemption] { get }
    /// The drives that several checks share.
    var cache: DriveCache { get }
    /// The secrets of the settings and the credential.
    var secrets: [String] { get }
    var endpoints: [String] { get }
    var settingNames: [(name: String, isRequired: Bool, rule: RuleID?)] { get }
    var remembersSomething: Bool { get }

    func drive(_ operations: [EngagementOperation], _ script: Script) -> Drive
    func drive(turns: [Turn], _ script: Script) -> Drive
    /// Returns the adapter's interpretation of each outcome of one request, with the memory from before the request.
    func read(
        _ outcomes: [Outcome],
        as number: Int,
        of operations: [EngagementOperation],
        _ script: Script
    ) -> [Reading]
    func examine(_ operation: EngagementOperation) -> [Finding]
    /// Returns the findings of another adapter with the same settings for each operation; nil if no other can be created.
    func examineByAnotherAdapter(_ operations: [EngagementOperation]) -> [[Finding]]?
    func place(_ operation: EngagementOperation) -> Place
    /// Returns the findings for these settings.
    func findings(in settings: JSONObject) -> [Finding]
    /// Returns the reason that a stored state cannot be restored; nil if it can.
    func problem(restoring state: StoredState) -> String?
}

extension ConformanceSubject {
    /// Returns the drive of a sample against a vendor with this behavior. Each drive is made once and shared by all
    /// checks. The drives in which checks search for secrets keep descriptions.
    func drive(_ sample: Sample, against behavior: VendorBehavior) -> Drive {
        cache.value("\(sample.name) \(behavior.name)") {
            drive(sample) { script in
                behavior.set(&script, refusal)
                script.keepsDescriptions = behavior.isUsual && isRepresentative(sample)
            }
        }
    }

    func isRepresentative(_ sample: Sample) -> Bool { representatives.contains { $0.name == sample.name } }

    func drive(_ sample: Sample, against behavior: VendorBehavior, isPrepared: Bool) -> Drive {
        guard isPrepared == sample.startsAfresh else { return drive(sample, against: behavior) }
        return cache.value("\(sample.name) \(behavior.name) \(isPrepared)") {
            drive(sample) { script in
                behavior.set(&script, refusal)
                script.isPrepared = isPrepared
            }
        }
    }

    /// Every sample with a vendor that accepts, and the representatives with one that fails.
    private var usualBehaviors: [(sample: Sample, behavior: VendorBehavior)] {
        samples.flatMap { sample in [VendorBehavior.accepting, .refusing].map { (sample, $0) } }
            + representatives.flatMap { sample in VendorBehavior.failing.map { (sample, $0) } }
    }

    /// The drives of the usual samples and vendors. Each drive is made on demand.
    var usualDrives: some Sequence<(sample: Sample, drive: Drive)> {
        usualBehaviors.lazy.map { (sample: $0.sample, drive: drive($0.sample, against: $0.behavior)) }
    }

    /// Makes some of the usual drives, so that checks that run at the same time do not wait for each other: every second
    /// caller begins at the end.
    func makeUsualDrives() {
        guard cache.isSecondCaller() else { return }
        for (sample, behavior) in usualBehaviors.reversed() { _ = drive(sample, against: behavior) }
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

    /// Runs turns against the vendor, after the preparation if the script has one; nil if the engine fails.
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

    /// Runs a closure, and records an error of the engine as a test issue.
    private func recordingErrors<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            Issue.record("The engine failed: \(error)")
            return nil
        }
    }

    func play(_ scenario: Scenario, interruptedBy interruption: ScenarioRun.Interruption?) throws -> Stage.Played {
        try Stage(self).play(scenario, interruptedBy: interruption)
    }

    func vendorState(_ state: any Sendable) -> JSONObject? { expectedState.flatMap { $0.held(in: state) } }

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
            return "The stored \(state.part.rawValue) of version \(state.version) cannot be read: \(type(of: error))."
        }
    }
}
