import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// What is measured, a scene each. An outbox in a file, the client that apps use, and no network.
struct Scenes {
    var workplace: Workplace
    var report = Report()

    /// A capture on its own, a capture that is waited for, and many in a row.
    mutating func capture() async throws {
        let vendor = Vendor.all[0]
        let sync = Disk.syncs(at: workplace.newFile(), count: 300).median
        report.add("one page appended and synced", "\(sync.short) µs")
        let client = try await Stage(vendor: vendor, path: workplace.newFile()).client(isPaused: true)
        var calls: [Double] = []
        for number in 0..<20_000 {
            let action = vendor.action(number)
            calls.append(try microseconds { _ = try client.capture(action) })
        }
        let spread = Spread(calls)
        report.add(
            "C1: a capture call that returns at once, p50 / p99",
            "\(spread.median.short) / \(spread.quantile(0.99).short) µs"
        )
        try await client.capture(vendor.action(0)).durable()
        var waits: [Double] = []
        for number in 0..<300 {
            waits.append(try await microseconds { try await client.capture(vendor.action(number)).durable() })
        }
        let wait = Spread(waits).median
        report.add(
            "C3: a capture that is waited for until it is on the disk, p50",
            "\(wait.short) µs",
            beside: "\((wait / sync).short) × the sync"
        )
        let count = 50_000
        let took = try await middle(of: 3) {
            let before = processorMicroseconds()
            let took = try await microseconds {
                var last: Receipt?
                for number in 0..<count { last = try client.capture(vendor.action(number)) }
                try await last?.durable()
            }
            FileHandle.standardError.write(Data("cpu \((processorMicroseconds() - before) / Double(count))\n".utf8))
            return took
        }
        report.add("C2: captures on the disk, one thread", "\((Double(count) / took * 1e6).short)/s")
        await client.close()
    }

    /// Everything from a full outbox to an empty one: windows, plans, exchanges, verdicts.
    mutating func delivery() async throws {
        for vendor in Vendor.all {
            let count = 5_000
            let stage = Stage(vendor: vendor, path: workplace.newFile())
            try await stage.fill(count)
            let before = processorMicroseconds()
            var accepted = 0
            let took = try await microseconds { accepted = try await stage.drain() }
            guard accepted == count else { throw WrongResult("\(vendor.title): \(accepted) of \(count) accepted.") }
            let processor = (processorMicroseconds() - before) / Double(count)
            report.add(
                "D1: \(vendor.title), \(count) pending",
                "\((1e6 / processor).short) per second of processor",
                beside: "\(processor.short) µs each; \((Double(count) / took * 1e6).short)/s by the wall"
            )
        }
    }

    /// From a closed file to a client that takes captures.
    mutating func opening() async throws {
        let vendor = Vendor.all[0]
        for count in [0, 2_000, 20_000, 200_000] {
            let stage = Stage(vendor: vendor, path: workplace.newFile())
            try await stage.fill(count)
            let took = try await middle(of: 5) {
                var opened: EngagementClient?
                let took = try await microseconds { opened = try await stage.client(isPaused: true) }
                await opened?.close()
                return took
            }
            report.add("opening a file with \(count) pending", "\((took / 1000).short) ms")
        }
    }
}
