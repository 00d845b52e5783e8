import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// What is measured, a scene each. An outbox in a file, the client that apps use, and no network.
struct Scenes {
    var workplace: Workplace
    var report = Report()
    private static let runs = 5

    /// One event as a client would store it without us.
    private static let record = EngagementOperation(
        id: "019a0000-0000-7000-8000-000000000000",
        subject: "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90",
        contact: "member-480013",
        capturedAt: Instant(milliseconds: 1_930_800_000_000),
        action: Vendor.all[0].action(480_013)
    ).jsonBytes

    private func medianPerSecond(_ body: () async throws -> Double) async throws -> Double {
        try await middle(of: Self.runs, body)
    }

    // MARK: Capture

    /// A capture on its own, a capture that is waited for, and many in a row, beside the disk and plain SQLite.
    mutating func capture() async throws {
        let vendor = Vendor.all[0]
        func alone(_ synchronous: String) throws -> Spread {
            // This number of records checkpoints the log a few times, as happens in an app that keeps running.
            try PlainDatabase.calls(at: workplace.newFile(), synchronous: synchronous, Self.record, count: 5_000)
        }
        let sync = Spread(
            (0..<Self.runs).map { _ in Disk.syncs(at: workplace.newFile(), count: 60).median }
        ).median
        report.add("", "a page appended and synced, p50", "\(sync.short) µs")
        let full = try await Runs(Self.runs) { try alone("FULL") }
        report.add(
            "",
            "SQLite, one transaction per event, FULL, p50 / max",
            "\(full.median.short) / \(full.quantile(1).short) µs"
        )
        let normal = try await Runs(Self.runs) { try alone("NORMAL") }
        report.add(
            "",
            "SQLite, one transaction per event, NORMAL, p50 / p99",
            "\(normal.median.short) / \(normal.quantile(0.99).short) µs"
        )
        var (undisturbed, interruptions) = ([Double](), 0)
        let calls = try await Runs(Self.runs) {
            let client = try await Stage(vendor: vendor, path: workplace.newFile()).client(isPaused: true)
            var (took, longest) = ([Double](), 0.0)
            for action in (0..<20_000).map(vendor.action) {
                let before = interruptionsOfThread()
                took.append(try microseconds { _ = try client.capture(action) })
                if interruptionsOfThread() > before {
                    interruptions += 1
                } else {
                    longest = max(longest, took[took.count - 1])
                }
            }
            undisturbed.append(longest)
            await client.close()
            return Spread(took)
        }
        report.add(
            "C1",
            "a capture call that returns at once, p50",
            wanted: "≤ 1/60 of one transaction per event (FULL)",
            "\(calls.median.short) µs, 1/\((full.median / calls.median).short)",
            isReached: (full.median / calls.median).isAtLeast(60)
        )
        report.add("C1", "the same, p99", "\(calls.quantile(0.99).short) µs")
        report.add(
            "C1",
            "the same, maximum, beside one transaction per event (FULL)",
            "\(calls.quantile(1).short) µs beside \(full.quantile(1).short) µs"
        )
        report.add(
            "C1",
            "the same, maximum of calls in which the system gave the processor to no other thread (it did in \(interruptions))",
            "\(Spread(undisturbed).median.short) µs"
        )
        let client = try await Stage(vendor: vendor, path: workplace.newFile()).client(isPaused: true)
        try await client.capture(vendor.action(0)).durable()
        let wait = try await middle(of: Self.runs) {
            var waits: [Double] = []
            for number in 0..<200 {
                waits.append(try await microseconds { try await client.capture(vendor.action(number)).durable() })
            }
            return Spread(waits).median
        }
        report.add(
            "C3",
            "a capture that is waited for until it is on the disk, p50",
            wanted: "≤ 1.5 × fdatasync",
            "\(wait.short) µs, \((wait / sync).short) ×",
            isReached: wait.isAtMost(1.5 * sync)
        )
        try await inARow(client, vendor, alone: full.median)
        await client.close()
        try await groups(vendor)
    }

    private mutating func inARow(_ client: EngagementClient, _ vendor: Vendor, alone: Double) async throws {
        let count = 30_000
        var processor: [Double] = []
        let perSecond = try await medianPerSecond {
            let before = processorMicroseconds()
            let took = try await microseconds {
                var last: Receipt?
                for number in 0..<count { last = try client.capture(vendor.action(number)) }
                try await last?.durable()
            }
            processor.append((processorMicroseconds() - before) / Double(count))
            return Double(count) / took * 1e6
        }
        report.add("C2", "captures on the disk, one thread", "\(perSecond.short)/s")
        report.add("C2", "the same, processor time of all threads", "\(Spread(processor).median.short) µs each")
        let ratio = perSecond * alone / 1e6
        report.add(
            "C2",
            "the same beside one transaction per event (FULL)",
            wanted: "≥ 40 ×",
            "\(ratio.short) ×",
            isReached: ratio.isAtLeast(40)
        )
    }

    /// Groups that are waited for, beside the disk.
    private mutating func groups(_ vendor: Vendor) async throws {
        for (group, wanted) in [(1, 0.0), (64, 0.6), (256, 0)] {
            let groups = 200
            // As the records beside them are, what is captured was made before.
            let actions = (0..<group).map(vendor.action)
            var floors: [Double] = []
            let ours = try await medianPerSecond {
                // In turn, because the disk has phases, too. No other program is at work meanwhile.
                floors.append(
                    Disk.recordsPerSecond(at: workplace.newFile(), Self.record, group: group, groups: groups)
                )
                let client = try await Stage(vendor: vendor, path: workplace.newFile()).client(isPaused: true)
                try await client.capture(vendor.action(0)).durable()
                let took = try await microseconds {
                    for _ in 0..<groups {
                        var last: Receipt?
                        for action in actions { last = try client.capture(action) }
                        try await last?.durable()
                    }
                }
                await client.close()
                return Double(group * groups) / took * 1e6
            }
            let floor = Spread(floors).median
            report.add(
                "C2",
                "awaited groups of \(group), beside appending them and fdatasync",
                wanted: wanted > 0 ? "≥ \(wanted) ×" : "",
                "\(ours.short)/s beside \(floor.short)/s, \((ours / floor).short) ×",
                isReached: wanted > 0 ? ours.isAtLeast(wanted * floor) : nil
            )
        }
    }

    // MARK: Delivery

    /// Everything from a full outbox to an empty one: windows, plans, exchanges, verdicts.
    mutating func delivery() async throws {
        for vendor in Vendor.all {
            // Many, so that what opening costs does not count as delivery.
            let count = vendor.isBatched ? 50_000 : 15_000
            var processor: [Double] = []
            for _ in 0..<Self.runs {
                let stage = Stage(vendor: vendor, path: workplace.newFile())
                try await stage.fill(count)
                let earlier = try await stage.accepted()
                let before = processorMicroseconds()
                let accepted = try await stage.drain() - earlier
                guard accepted == count else {
                    throw WrongResult("\(vendor.title): \(accepted) of \(count) accepted.")
                }
                processor.append((processorMicroseconds() - before) / Double(count))
            }
            let each = Spread(processor).median
            report.add(
                "D1",
                vendor.title,
                wanted: "≥ \(vendor.goal / 1000) k/s and core",
                "\((1e6 / each).short)/s (\(each.short) µs of processor each)",
                isReached: (1e6 / each).isAtLeast(Double(vendor.goal))
            )
        }
    }

    /// From a closed file with a million pending operations to the first request, and the memory of what follows.
    mutating func opening() async throws {
        for count in [10_000, 1_000_000] {
            let path = workplace.newFile()
            _ = try Child.ours(["fill", "acoustic", String(count), path])
            let words = try Child.twoFigures(["begin", "acoustic", path, "20000"])
            let isGoal = count == 1_000_000
            report.add(
                "D2",
                "\(count) pending: opened until the first request is planned",
                wanted: isGoal ? "≤ 50 ms" : "",
                "\(words[0].short) ms",
                isReached: isGoal ? words[0].isAtMost(50) : nil
            )
            report.add(
                "D2",
                "\(count) pending: peak memory while 20,000 of them are delivered",
                wanted: isGoal ? "≤ 64 MiB" : "",
                "\(words[1].short) MiB",
                isReached: isGoal ? words[1].isAtMost(64) : nil
            )
        }
    }
}
