import Dispatch
import Foundation
import PatchbayModel
import Synchronization
import Testing

@testable import Patchbay

@Suite("The storage thread", .hangTimeLimit) struct LoopExecutorTests {
    /// State that a test shares with the errands.
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

    @Test func `runs jobs although an errand is always due`() async {
        let executor = LoopExecutor(label: "test")
        let worker = Worker(executor)
        let mayContinue = Shared(true)
        executor.begin { [weak executor] errand in
            if mayContinue.value.withLock(\.self) { executor?.call(errand, at: .now()) }
        }
        executor.call(.store, at: .now())
        executor.call(.place, at: .now())
        for number in 0..<20 { await worker.note(number) }
        mayContinue.value.withLock { $0 = false }
        #expect(await worker.done == Array(0..<20))
    }

    @Test func `moves an errand forward when it is requested earlier`() async {
        let executor = LoopExecutor(label: "test")
        await withCheckedContinuation { continuation in
            executor.begin { _ in continuation.resume() }
            executor.call(.store, at: .now() + .seconds(3600))
            executor.call(.store, at: .now())
        }
    }

    @Test func `a waiting caller runs the errand of an idle thread, and new jobs run after it`() async {
        let executor = LoopExecutor(label: "test")
        let worker = Worker(executor)
        let order = Shared<[String]>([])
        let jobs = Shared<[Task<Void, Never>]>([])
        executor.begin { [weak worker] errand in
            guard let worker else { return }
            // The errand is isolated to the actor on any thread.
            worker.assumeIsolated { $0.done.append(0) }
            guard errand == .store else { return }
            let job = Task {
                await worker.note(1)
                order.value.withLock { $0.append("job") }
            }
            jobs.value.withLock { $0.append(job) }
            // Gives the job time to run in between, if it could.
            Thread.sleep(forTimeInterval: 0.02)
            order.value.withLock { $0.append("errand") }
        }
        // Before a thread exists, and while one is idle after its work.
        for _ in 0..<5 {
            while !executor.doNow(.store) { await Task.yield() }
            for job in jobs.value.withLock(\.self) { await job.value }
        }
        #expect(order.value.withLock(\.self) == (0..<5).flatMap { _ in ["errand", "job"] })
        #expect(await worker.done == (0..<5).flatMap { _ in [0, 1] })
    }

    @Test func `a caller runs no errand while the thread is busy or has other work`() async {
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

    @Test func `the thread runs an errand that was requested while a caller ran another`() async {
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

    @Test func `releases an unreferenced executor with its scheduled errands`() async {
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

@Suite("The capture buffer") struct CaptureBufferTests {
    private func taken(_ count: Int, from buffer: CaptureBuffer) throws -> [CaptureBuffer.Entry] {
        for number in 0..<count { _ = try buffer.append(entry(OperationID(rawValue: "\(number)"))) }
        return buffer.take()
    }

    @Test func `frees stored captures in parts with turns for other work`() throws {
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

    @Test func `requests the freeing once, and at once for very many captures`() throws {
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

@Suite("The receipt book") struct ReceiptBookTests {
    @Test func `releases a receipt that its caller no longer references`() throws {
        let book = ReceiptBook()
        var entries = [entry("held"), entry("forgotten")]
        let held = entries[0].receipt
        book.add(heldIn: &entries)
        #expect(book.all.map(\.id) == ["held"])
        #expect(book.receipts(for: "held").first === held)
        #expect(book.receipts(for: "forgotten").isEmpty)
    }
}

@Suite("Ids of the system host") struct MadeIDTests {
    @Test func `formats a UUID from its bits in order`() {
        #expect(SystemHost.uuid(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210) == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(SystemHost.uuid(0, .max) == "00000000-0000-0000-ffff-ffffffffffff")
    }
}
