import Dispatch
import Foundation
import PatchbayModel
import Synchronization
import Testing

@testable import Patchbay

@Suite("The thread that stores", .endsAtAll) struct LoopExecutorTests {
    /// What a test and the errands both touch.
    private final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    /// An actor on such a thread.
    private actor Worker {
        let executor: LoopExecutor
        var done: [Int] = []

        init(_ executor: LoopExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func note(_ number: Int) { done.append(number) }
    }

    @Test func `an errand that is always due keeps no job from its turn`() async {
        let executor = LoopExecutor(label: "test")
        let worker = Worker(executor)
        let mayGoOn = Shared(true)
        executor.begin { [weak executor] errand in
            if mayGoOn.value.withLock(\.self) { executor?.call(errand, at: .now()) }
        }
        executor.call(.store, at: .now())
        executor.call(.place, at: .now())
        for number in 0..<100 { await worker.note(number) }
        mayGoOn.value.withLock { $0 = false }
        #expect(await worker.done == Array(0..<100))
    }

    @Test func `what was asked for late is done early when it is asked for again`() async {
        let executor = LoopExecutor(label: "test")
        await withCheckedContinuation { continuation in
            executor.begin { _ in continuation.resume() }
            executor.call(.store, at: .now() + .seconds(3600))
            executor.call(.store, at: .now())
        }
    }

    @Test func `who waits does the errand in place of a thread that rests, and jobs that come meanwhile run behind it`()
        async
    {
        let executor = LoopExecutor(label: "test")
        let worker = Worker(executor)
        let order = Shared<[String]>([])
        let jobs = Shared<[Task<Void, Never>]>([])
        executor.begin { [weak worker] errand in
            guard let worker else { return }
            // The errand is isolated to the actor, whichever thread does it.
            worker.assumeIsolated { $0.done.append(0) }
            guard errand == .store else { return }
            let job = Task {
                await worker.note(1)
                order.value.withLock { $0.append("job") }
            }
            jobs.value.withLock { $0.append(job) }
            // Time enough for the job to come in between, if it could.
            Thread.sleep(forTimeInterval: 0.02)
            order.value.withLock { $0.append("errand") }
        }
        // Before a thread was ever needed, and while one stays behind its work.
        for _ in 0..<5 {
            while !executor.doNow(.store) { await Task.yield() }
            for job in jobs.value.withLock(\.self) { await job.value }
        }
        #expect(order.value.withLock(\.self) == (0..<5).flatMap { _ in ["errand", "job"] })
        #expect(await worker.done == (0..<5).flatMap { _ in [0, 1] })
    }

    @Test func `nobody does an errand in place of a thread that is at work, or has other work to do`() async {
        let executor = LoopExecutor(label: "test")
        let (isAtWork, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Shared(0)
        executor.begin { errand in
            count.value.withLock { $0 += 1 }
            guard errand == .store else { return }
            isAtWork.signal()
            mayEnd.wait()
        }
        executor.call(.store, at: .now())
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isAtWork.wait()
                #expect(!executor.doNow(.place))
                executor.call(.place, at: .now())
                mayEnd.signal()
                continuation.resume()
            }
        }
        while count.value.withLock(\.self) < 2 { await Task.yield() }
        while !executor.doNow(.place) { await Task.yield() }
        #expect(count.value.withLock(\.self) == 3)
    }

    @Test func `what was asked for while an errand was lent is done by the thread`() async {
        let executor = LoopExecutor(label: "test")
        await withCheckedContinuation { continuation in
            executor.begin { [weak executor] errand in
                switch errand {
                case .store: executor?.call(.place, at: .now() + .milliseconds(3))
                case .place: continuation.resume()
                }
            }
            #expect(executor.doNow(.store))
        }
    }

    @Test func `an executor that nobody holds goes, with what was to be done later`() async {
        weak var gone: LoopExecutor?
        do {
            let executor = LoopExecutor(label: "test")
            executor.begin { _ in Issue.record("It is not due.") }
            executor.call(.store, at: .now() + .seconds(3600))
            await Worker(executor).note(1)
            gone = executor
        }
        while gone != nil { await Task.yield() }
    }
}

/// A capture of an event, as a caller of `capture` enters it.
private func entry(_ id: OperationID) -> CaptureBuffer.Entry {
    let operation = EngagementOperation(
        id: id,
        subject: "s",
        capturedAt: Instant(milliseconds: 0),
        action: .event("e")
    )
    return CaptureBuffer.Entry(
        capture: Engine.Capture(operation, uptime: Instant(milliseconds: 0)),
        receipt: Receipt(id: id, providers: [])
    )
}

@Suite("Captures that are stored") struct CaptureBufferTests {
    private func taken(_ count: Int, from buffer: CaptureBuffer) throws -> [CaptureBuffer.Entry] {
        for number in 0..<count { _ = try buffer.append(entry(OperationID(rawValue: "\(number)"))) }
        return buffer.take()
    }

    @Test func `they are freed in pieces, and whoever waits has a turn between them`() throws {
        let buffer = CaptureBuffer()
        var stored = try taken(200, from: buffer)
        weak let first = stored[0].receipt
        weak let last = stored[199].receipt
        buffer.keep(&stored)
        #expect(stored.isEmpty)
        #expect(first != nil && last != nil)
        var turns = 0
        buffer.freeKept {
            turns += 1
            if turns == 1 { #expect(first != nil && last == nil) }
        }
        #expect(turns == 3)
        #expect(first == nil)
    }

    @Test func `somebody is called to free them once, and whoever stores does it where they are very many`() throws {
        let buffer = CaptureBuffer()
        func keep(_ count: Int) throws {
            var stored = try taken(count, from: buffer)
            buffer.keep(&stored)
        }
        try keep(1_023)
        #expect(buffer.callForFreeing() == .later)
        try keep(1)
        #expect(buffer.callForFreeing() == .soon)
        try keep(1_024)
        #expect(buffer.callForFreeing() == .later)
        buffer.freeKept()
        #expect(buffer.callForFreeing() == .later)
        try keep(1_024)
        #expect(buffer.callForFreeing() == .soon)
        try keep(8_192)
        #expect(buffer.callForFreeing() == .now)
    }
}

@Suite("Receipts that are held") struct ReceiptBookTests {
    @Test func `a receipt that its caller let go of is not kept`() throws {
        let book = ReceiptBook()
        var entries = [entry("held"), entry("forgotten")]
        let held = entries[0].receipt
        book.add(heldIn: &entries)
        #expect(book.all.map(\.id) == ["held"])
        #expect(book.receipts(for: "held").first === held)
        #expect(book.receipts(for: "forgotten").isEmpty)
    }
}

@Suite("Ids that the machine makes") struct MadeIDTests {
    @Test func `a UUID's text has its bits in order`() {
        #expect(SystemHost.uuid(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210) == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(SystemHost.uuid(0, .max) == "00000000-0000-0000-ffff-ffffffffffff")
    }
}
