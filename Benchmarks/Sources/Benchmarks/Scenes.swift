import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// What is measured, a scene each. An outbox in a file, the client that apps use, and no network.
struct Scenes {
    var workplace: Workplace
    var report = Report()
    private static let subject: Subject = "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90"

    private func client(_ vendor: Vendor, _ path: String, isPaused: Bool) async throws -> EngagementClient {
        let (plan, configuration) = try vendor.setup(isPaused: isPaused)
        return try await EngagementClient(
            outbox: .file(path),
            subject: Self.subject,
            plan: plan,
            transport: try vendor.makeTransport(),
            credentials: configuration.credential
        )
    }

    @discardableResult
    private func say(_ client: EngagementClient, _ number: Int) throws -> Receipt {
        try client.track(
            "OrderPlaced",
            attributes: ["order": .integer(Int64(number)), "total": .string("49.90"), "branch": .string("Helsinki")]
        )
    }

    private func fill(_ vendor: Vendor, _ path: String, count: Int) async throws {
        let client = try await client(vendor, path, isPaused: true)
        var last: Receipt?
        for number in 0..<count { last = try say(client, number) }
        try await last?.durable()
        await client.close()
    }

    /// A capture on its own, a capture that is waited for, and many in a row.
    mutating func capture() async throws {
        let vendor = Vendor.all[0]
        let sync = Disk.syncs(at: workplace.newFile(), count: 300).median
        report.add("one page appended and synced", "\(sync.short) µs")
        let client = try await client(vendor, workplace.newFile(), isPaused: true)
        var calls: [Double] = []
        for number in 0..<20_000 { calls.append(try microseconds { try say(client, number) }) }
        let spread = Spread(calls)
        report.add(
            "C1: a capture call that returns at once, p50 / p99",
            "\(spread.median.short) / \(spread.quantile(0.99).short) µs"
        )
        try await say(client, 0).durable()
        var waits: [Double] = []
        for number in 0..<300 { waits.append(try await microseconds { try await say(client, number).durable() }) }
        let wait = Spread(waits).median
        report.add(
            "C3: a capture that is waited for until it is on the disk, p50",
            "\(wait.short) µs",
            beside: "\((wait / sync).short) × the sync"
        )
        let count = 50_000
        let took = try await middle(of: 3) {
            try await microseconds {
                var last: Receipt?
                for number in 0..<count { last = try say(client, number) }
                try await last?.durable()
            }
        }
        report.add("C2: captures on the disk, one thread", "\((Double(count) / took * 1e6).short)/s")
        await client.close()
    }

    /// Everything from a full outbox to an empty one: windows, plans, exchanges, verdicts.
    mutating func delivery() async throws {
        for vendor in Vendor.all {
            for count in [2_000, 20_000] {
                let path = workplace.newFile()
                let introduction = try await client(vendor, path, isPaused: false)
                for action in Vendor.introduction { try introduction.capture(action) }
                while try await introduction.accounts().first?.pending != 0 { await introduction.idle() }
                await introduction.close()
                try await fill(vendor, path, count: count)
                let before = processorMicroseconds()
                let took = try await microseconds {
                    let client = try await client(vendor, path, isPaused: false)
                    repeat { await client.idle() } while try await client.accounts().first?.pending != 0
                    await client.close()
                }
                report.add(
                    "D1: \(vendor.name), \(count) pending",
                    "\((Double(count) / took * 1e6).short) operations/s",
                    beside: "\(((processorMicroseconds() - before) / Double(count)).short) µs of processor each; "
                        + "goal \(vendor.goal / 1000) k/s"
                )
            }
        }
    }

    /// From a closed file to a client that takes captures.
    mutating func opening() async throws {
        let vendor = Vendor.all[0]
        for count in [0, 2_000, 20_000, 200_000] {
            let path = workplace.newFile()
            try await fill(vendor, path, count: count)
            let took = try await middle(of: 5) {
                var opened: EngagementClient?
                let took = try await microseconds { opened = try await client(vendor, path, isPaused: true) }
                await opened?.close()
                return took
            }
            report.add("opening a file with \(count) pending", "\((took / 1000).short) ms")
        }
    }
}
