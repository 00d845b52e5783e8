import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// Hand-written exchanges.
enum Exchanges {
    /// Returns the exchange of an action that `plan` makes from a memory.
    static func exchange(_ action: Action, _ adapter: DESDevice, _ memory: DESMemory, answer: Outcome) throws
        -> Exchange<DESDevice>
    {
        let operation = EngagementOperation(
            id: "0b5e4c1a-2d3f-4a6b-8c7d-000000000001",
            subject: Corpus.installation,
            contact: Corpus.customerNumber,
            capturedAt: Corpus.start,
            action: action
        )
        let pending = Pending<DESDevice>(
            operation: operation,
            sequence: 1,
            since: Corpus.start,
            queue: adapter.place(operation).queue
        )
        let moment = Moment(now: Corpus.start, date: Corpus.start)
        guard case .send(let transmission) = adapter.plan(PendingOperations([pending]), memory: memory, at: moment)
        else {
            throw Nothing()
        }
        return Exchange(
            endpoint: transmission.endpoint,
            operations: [pending],
            request: transmission.request,
            outcome: answer,
            startedAt: Corpus.start,
            moment: moment
        )
    }

    struct Nothing: Error {}
}

/// Memory as the outbox stores it.
enum JSONEncoding {
    static func encode(_ memory: DESMemory) throws -> Data { try JSONEncoder().encode(memory) }
    static func decode(_ data: Data) throws -> DESMemory { try JSONDecoder().decode(DESMemory.self, from: data) }
}
