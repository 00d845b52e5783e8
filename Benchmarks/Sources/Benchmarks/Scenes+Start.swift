import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension Scenes {
    /// The built command's start, beside the start of another language; `PATCHBAY_STATIC` names the command.
    mutating func start() async throws {
        guard let command = ProcessInfo.processInfo.environment["PATCHBAY_STATIC"] else {
            return report.add("S1", "start of the command", "PATCHBAY_STATIC names no command")
        }
        let configuration = workplace.newFile()
        let operation = workplace.newFile()
        try Data(Self.configuration.utf8).write(to: URL(fileURLWithPath: configuration))
        setenv("PATCHBAY_BENCH_TOKEN", "k3jq8w1xv5nb2mz7ht9rd4fa", 1)
        try Data(Self.operation.utf8).write(to: URL(fileURLWithPath: operation))
        func milliseconds(_ words: [String]) throws -> Double {
            try Child.run(words)
            return Spread(try (0..<21).map { _ in try Child.run(words).milliseconds }).median
        }
        let python = try milliseconds([
            Child.python(), "-c", "import json, sys; json.load(open(sys.argv[1]))", configuration,
        ])
        report.add("", "python3 that loads 5 kB of JSON, start to end", "\(python.short) ms")
        let starts = [
            ("--version", ["--version"]),
            ("map of one operation", ["map", "--config", configuration, "--provider", "crm", operation]),
        ]
        for (name, words) in starts {
            let took = try milliseconds([command] + words)
            report.add(
                "S1",
                "\(name), start to end",
                wanted: "≤ 1 × python3",
                "\(took.short) ms, \((took / python).short) ×",
                isReached: took.isAtMost(python)
            )
        }
    }

    /// About 5 kB.
    private static let configuration: String = {
        let names: JSONObject = JSONObject(
            (0..<60).map { ("attribute_number_\($0)", ["type": "string", "owner": "device"]) }
        )
        let json: JSONValue = [
            "outbox": ["path": "outbox.sqlite"],
            "providers": [
                "crm": [
                    "adapter": "salesforce",
                    "settings": [
                        "endpoint": "https://mc.device.test", "applicationId": "3f2a1c9e-6b5d-4e8f-9a70-1b2c3d4e5f60",
                        "accessToken": "${PATCHBAY_BENCH_TOKEN}",
                    ],
                ]
            ],
            "routes": [["provider": "crm", "mode": "live"]],
            "attributes": .object(names),
        ]
        return json.text
    }()

    private static let operation =
        EngagementOperation(
            id: "019a0000-0000-7000-8000-000000000000",
            subject: "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90",
            capturedAt: Instant(milliseconds: 1_930_800_000_000),
            action: Vendor.all[0].action(1)
        ).json.text + "\n"

    /// What an adapter needs for one operation: to examine it, to place it, and to plan its request alone, bytes and all.
    ///
    /// What an app does once is not in it: the settings are read, and the vendor knows installation and contact.
    mutating func mapping() async throws {
        let mappers = try Vendor.all.map(Mapper.init)
        // In turn: a slow moment of the machine is one of all vendors.
        var rounds = [[Double]](repeating: [], count: mappers.count)
        for _ in 0..<9 {
            for (place, mapper) in mappers.enumerated() { rounds[place].append(try mapper.microsecondsEach(2_000)) }
        }
        for (vendor, figures) in zip(Vendor.all, rounds) {
            let each = Spread(figures).median
            report.add("S2", vendor.title, wanted: "≤ 8 µs", "\(each.short) µs", isReached: each.isAtMost(8))
        }
    }
}

/// One operation after the other through a vendor's adapter.
struct Mapper {
    private let measure: (_ count: Int) throws -> Double

    init(_ vendor: Vendor) throws {
        let configuration = try vendor.setup(isPaused: false)
        measure = try Self.measure(
            configuration.providers[0].adapter,
            vendor,
            configuration.credential(of: "vendor", for: nil)
        )
    }

    /// Maps `count` operations and returns the duration of one in microseconds.
    func microsecondsEach(_ count: Int) throws -> Double { try measure(count) }

    private static func measure<Adapter: VendorAdapter>(
        _ adapter: Adapter,
        _ vendor: Vendor,
        _ credential: Secret?
    ) throws -> (Int) throws -> Double {
        var bench = Bench(adapter: adapter, credential: credential)
        try bench.settle(Vendor.introduction, vendor.makeAnswers())
        let operations = (0..<2_000).map { bench.operation(vendor.action($0)) }
        return { [bench] count in
            try microseconds {
                for number in 0..<count {
                    let operation = operations[number % operations.count]
                    _ = adapter.examine(operation)
                    guard case .send = bench.plan(operation) else {
                        throw WrongResult("\(vendor.title): nothing is sent.")
                    }
                }
            } / Double(count)
        }
    }
}

/// One adapter, its memory, and nothing of the engine.
private struct Bench<Adapter: VendorAdapter> {
    let adapter: Adapter
    let credential: Secret?
    var memory = Adapter.Memory()
    private let moment = Moment(
        now: Instant(milliseconds: 1_930_800_100_000),
        date: Instant(milliseconds: 1_930_800_100_000),
        flush: true,
        chance: 0.5
    )
    private var count = 0

    init(adapter: Adapter, credential: Secret?) { (self.adapter, self.credential) = (adapter, credential) }

    mutating func operation(_ action: Action) -> EngagementOperation {
        count += 1
        let number = String(count, radix: 16)
        return EngagementOperation(
            id: OperationID(
                rawValue: "019a0000-0000-7000-8000-" + String(repeating: "0", count: 12 - number.count) + number
            ),
            subject: "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90",
            capturedAt: moment.date,
            appState: .active,
            action: action
        )
    }

    private func pending(_ operation: EngagementOperation, _ sequence: Int, _ step: Adapter.Step?) -> Pending<Adapter> {
        Pending(
            operation: operation,
            sequence: Int64(sequence),
            since: Instant(milliseconds: 1_930_800_000_000),
            queue: adapter.place(operation).queue,
            step: step,
            credential: credential
        )
    }

    func plan(_ operation: EngagementOperation) -> Plan<Adapter> {
        adapter.plan(PendingOperations([pending(operation, 0, nil)]), memory: memory, at: moment)
    }

    /// Brings actions to their end.
    mutating func settle(_ actions: [Action], _ answer: (WireRequest) -> WireResponse) throws {
        var open = actions.enumerated().map { ($0.offset, operation($0.element), Adapter.Step?.none) }
        for _ in 0..<100 where !open.isEmpty {
            let window = open.map { pending($0.1, $0.0, $0.2) }
            var verdicts: [OperationID: Verdict<Adapter>] = [:]
            switch adapter.plan(PendingOperations(window), memory: memory, at: moment) {
            case .settle(let settled, let remembered):
                verdicts = settled
                memory = remembered ?? memory
            case .send(let transmission):
                let exchange = Exchange<Adapter>(
                    endpoint: transmission.endpoint,
                    operations: window.filter { transmission.operations.contains($0.id) },
                    request: transmission.request,
                    outcome: .replied(answer(transmission.request)),
                    startedAt: moment.now,
                    moment: moment
                )
                verdicts = adapter.interpret(exchange, memory: &memory).verdicts
            case .wait: return
            }
            open = open.compactMap { number, operation, step in
                switch verdicts[operation.id] {
                case .inProgress(let next, _)?: (number, operation, next)
                case .retry?, nil: (number, operation, step)
                default: nil
                }
            }
        }
    }
}
