import Foundation
import Patchbay
import PatchbayModel

/// One vendor behind the client that apps use, an outbox in a file, and no network.
struct Stage {
    let vendor: Vendor
    let path: String
    private static let subject: Subject = "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90"

    /// A client on the file; `isPaused` takes everything and sends nothing.
    func client(isPaused: Bool) async throws -> EngagementClient {
        try await client(isPaused: isPaused, vendor.makeTransport())
    }

    /// Opens the file, delivers until `count` operations have been accepted or none is left, and returns the time until the
    /// first request left, in milliseconds.
    func begin(_ count: Int) async throws -> Double {
        let transport = try vendor.makeTransport()
        var opened = ContinuousClock.now
        let client = try await client(isPaused: false, transport) { opened = ContinuousClock.now }
        var accepted = 0
        while accepted < count {
            try await Task.sleep(for: .milliseconds(500))
            try await client.flush()
            let accounts = try await client.accounts().first { $0.provider == "vendor" }
            accepted = accounts?.total("accepted") ?? 0
            // Fewer may have been pending than were asked for.
            if accounts?.pending == 0 { break }
        }
        await client.close()
        guard let first = transport.firstRequest else { throw WrongResult("Nothing was sent.") }
        return (first - opened) / .milliseconds(1)
    }

    private func client(
        isPaused: Bool,
        _ transport: Parrot,
        _ begin: () -> Void = {}
    ) async throws -> EngagementClient {
        if !isPaused {
            // The vendor has met this installation before.
            let introduction = try await client(on: .memory, transport)
            try await introduce(introduction)
            await introduction.close()
        }
        transport.listen()
        begin()
        return try await client(on: .file(path), transport, isPaused: isPaused)
    }

    private func client(
        on outbox: EngagementClient.Outbox,
        _ transport: any Transport,
        isPaused: Bool = false
    ) async throws -> EngagementClient {
        try await EngagementClient(
            configuration: vendor.setup(isPaused: isPaused),
            subject: Self.subject,
            transport: transport,
            outbox: outbox
        )
    }

    private func introduce(_ client: EngagementClient) async throws {
        for action in Vendor.introduction { try client.capture(action) }
        try await Self.drain(client)
    }

    /// Registers the installation with the vendor, then stores `count` operations without sending them.
    func fill(_ count: Int) async throws {
        let introduction = try await client(isPaused: false)
        try await introduce(introduction)
        await introduction.close()
        let client = try await client(isPaused: true)
        var last: Receipt?
        for number in 0..<count {
            last = try client.capture(vendor.action(number))
            // A million at once would be a million in memory.
            if number % 10_000 == 9_999 { try await last?.durable() }
        }
        try await last?.durable()
        await client.close()
    }

    /// Captures `count` operations, waits for the disk after each group, and returns the longest capture in microseconds.
    func capture(_ count: Int, group: Int) async throws -> Double {
        let client = try await client(isPaused: true)
        var longest = 0.0
        for start in stride(from: 0, to: count, by: group) {
            var last: Receipt?
            for number in start..<min(count, start + group) {
                longest = max(longest, try microseconds { last = try client.capture(vendor.action(number)) })
            }
            try await last?.durable()
        }
        await client.close()
        return longest
    }

    /// How many have been accepted: asked of a client that does not deliver, because one that does begins at once.
    func accepted() async throws -> Int {
        let looker = try await client(isPaused: true)
        let accepted = try await looker.accounts().first { $0.provider == "vendor" }?.total("accepted") ?? 0
        await looker.close()
        return accepted
    }

    /// Sends what is pending and says how many have been accepted in all.
    func drain() async throws -> Int {
        let client = try await client(isPaused: false)
        try await Self.drain(client)
        let accounts = try await client.accounts().first { $0.provider == "vendor" }
        await client.close()
        guard accounts?.balances == true else { throw WrongResult("The books don't balance.") }
        return accounts?.total("accepted") ?? 0
    }

    private static func drain(_ client: EngagementClient) async throws {
        for _ in 0..<100 {
            try await client.flush()
            await client.idle()
            let accounts = try await client.accounts().first { $0.provider == "vendor" }
            if let suspended = accounts?.suspended {
                throw WrongResult("The provider is suspended: \(suspended.code).")
            }
            if accounts?.pending == 0 { return }
        }
        throw WrongResult("It does not end.")
    }
}

/// What was measured is not what was to be measured.
struct WrongResult: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
