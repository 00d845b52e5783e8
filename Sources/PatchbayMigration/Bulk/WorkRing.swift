import Dispatch
import Synchronization

/// Threads that turn jobs into results, the caller's among them; results are given back in the order of the jobs.
///
/// How many jobs are under way is for the caller to bound: that bounds the memory.
final class WorkRing<Job: Sendable, Output: Sendable>: Sendable {
    private struct State {
        var jobs: [(number: Int, job: Job)] = []
        var outputs: [Int: Output] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let hasWork = DispatchSemaphore(value: 0)
    private let hasOutput = DispatchSemaphore(value: 0)
    private let workers: Int
    private let ended = DispatchGroup()

    /// Starts that many threads beside the caller's; each makes its own worker and runs it to the end.
    ///
    /// - Parameters:
    ///   - workers: how many.
    ///   - work: takes jobs by ``take()`` until there is none, and gives each one's result by ``give(_:_:)``.
    init(workers: Int, work: @escaping @Sendable (WorkRing) -> Void) {
        self.workers = workers
        let queue = DispatchQueue(label: "patchbay.migration", qos: .userInitiated, attributes: .concurrent)
        for _ in 0..<workers {
            queue.async(group: ended) { work(self) }
        }
    }

    // MARK: The caller's side

    /// Puts a job at the end.
    func submit(_ number: Int, _ job: sending Job) {
        state.withLock { $0.jobs.append((number, job)) }
        hasWork.signal()
    }

    /// Waits for the result of that job, and works meanwhile: whoever waits asleep has to be woken, and costs more than a job.
    func wait(for number: Int, working work: (inout Job) -> Output) -> Output {
        while true {
            if let output = state.withLock({ $0.outputs.removeValue(forKey: number) }) { return output }
            if hasWork.wait(timeout: .now()) == .success {
                guard var next = first() else { continue }
                let output = work(&next.job)
                if next.number == number { return output }
                state.withLock { $0.outputs[next.number] = output }
            } else {
                hasOutput.wait()
            }
        }
    }

    /// Says that no job follows, and waits until every thread has ended; jobs that nobody has begun are dropped.
    func close() {
        state.withLock {
            $0.isClosed = true
            $0.jobs = []
        }
        for _ in 0..<workers { hasWork.signal() }
        ended.wait()
    }

    // MARK: The workers' side

    /// The next job; nil when no more come.
    func take() -> (number: Int, job: Job)? {
        hasWork.wait()
        return first()
    }

    private func first() -> (number: Int, job: Job)? {
        state.withLock { state in state.jobs.isEmpty ? nil : state.jobs.removeFirst() }
    }

    /// Hands a result in.
    func give(_ number: Int, _ output: Output) {
        state.withLock { $0.outputs[number] = output }
        hasOutput.signal()
    }
}
