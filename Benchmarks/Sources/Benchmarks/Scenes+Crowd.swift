import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftServer
import PatchbayJSON
import PatchbayModel
import Synchronization

extension Scenes {
    /// A back end's API with as many subjects as stand in an outbox: each has something pending, and each waits for its repeat.
    mutating func crowd() throws {
        for count in [10_000, 100_000] {
            let path = workplace.newFile()
            _ = try Child.ours(["gather", String(count), path])
            let words = try Child.twoFigures(["await", path, String(count)])
            report.add(
                "D2",
                "\(count) subjects of a server API, each with a request that the vendor asked to repeat later: peak memory",
                "\(words[1].short) MiB"
            )
            report.add("D2", "the same, processor time", "\((words[0] / Double(count)).short) µs for each subject")
        }
    }
}

/// Many subjects behind one API, and a vendor that takes nothing of them now.
struct Crowd {
    let path: String

    /// A change for each subject is stored and not sent.
    func gather(_ count: Int) async throws {
        let client = try await client(isPaused: true, Reluctant(atMost: count))
        var last: Receipt?
        for number in 0..<count {
            let digits = String(format: "%012d", number)
            last = try client.capture(
                EngagementOperation(
                    id: OperationID(rawValue: "019a0000-0000-7000-8000-\(digits)"),
                    subject: Subject(rawValue: "5e0f4b52-7f0e-4b1d-9a3c-\(digits)"),
                    capturedAt: Instant(milliseconds: 1_930_800_000_000),
                    action: .changeAttributes(["tier": .set("gold")])
                )
            )
            if number % 10_000 == 9_999 { try await last?.durable() }
        }
        try await last?.durable()
        await client.close()
    }

    /// Delivers until every subject was asked for and has to wait; the microseconds of processor that took.
    func wait(_ count: Int) async throws -> Double {
        let before = processorMicroseconds()
        let vendor = Reluctant(atMost: count)
        let client = try await client(isPaused: false, vendor)
        while vendor.askedCount < count { try await Task.sleep(for: .milliseconds(100)) }
        await client.idle()
        let accounts = try await client.accounts().first { $0.provider == "vendor" }
        await client.close()
        guard accounts?.pending == count, accounts?.suspended == nil else {
            throw WrongResult("\(accounts?.pending ?? 0) of \(count) wait.")
        }
        return processorMicroseconds() - before
    }

    private func client(isPaused: Bool, _ transport: any Transport) async throws -> EngagementClient {
        let json: JSONValue = [
            "side": "server",
            "outbox": ["path": "unused.sqlite"],
            "providers": [
                "vendor": [
                    "adapter": "altcraft-server",
                    "settings": [
                        "apiUrl": "https://vendor.test", "apiToken": "k3jq8w1xv5nb2mz7ht9rd4fa", "dbId": 1,
                        "matchingField": "crm_id",
                    ],
                ]
            ],
            "routes": [["provider": "vendor", "mode": "live"]],
        ]
        let configuration = try Configuration.load(
            bytes: Array(json.text.utf8),
            path: "benchmark",
            environment: [:],
            modules: [.altcraftServer]
        )
        return try await EngagementClient(
            configuration: isPaused ? configuration.paused : configuration,
            subject: "back-end",
            transport: transport,
            outbox: .file(path)
        )
    }
}

/// A vendor that says of every profile: not now. It notes whom it was asked for, and reads no more of a request than that: what
/// the vendor costs is no part of what is measured.
private final class Reluctant: Transport {
    private let asked: Mutex<(subjects: [Bool], count: Int)>
    private static let key = Array("\"crm_id\":\"".utf8)
    private static let refusal = Array(#"{"error":429,"error_text":"Too many requests"}"#.utf8)

    init(atMost count: Int) { asked = Mutex((Array(repeating: false, count: count), 0)) }

    var askedCount: Int { asked.withLock { $0.count } }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        var body = Array(#"{"error":0,"error_text":"Successful operation","result":["#.utf8)
        for (place, number) in Self.numbers(in: request.body).enumerated() {
            if place > 0 { body.append(UInt8(ascii: ",")) }
            body += Self.refusal
            asked.withLock { asked in
                guard asked.subjects.indices.contains(number), !asked.subjects[number] else { return }
                asked.subjects[number] = true
                asked.count += 1
            }
        }
        body += Array("]}".utf8)
        let type = WireHeader("Content-Type", "application/json")
        return .replied(WireResponse(200, headers: [type], body: body))
    }

    /// The last digits of each key in a request.
    private static func numbers(in body: [UInt8]) -> [Int] {
        let quote = UInt8(ascii: "\"")
        var numbers: [Int] = []
        var rest = body[...]
        while let start = rest.firstRange(of: key)?.upperBound, let end = rest[start...].firstIndex(of: quote) {
            numbers.append(Int(String(decoding: rest[start..<end].suffix(12), as: UTF8.self)) ?? -1)
            rest = rest[end...]
        }
        return numbers
    }
}
