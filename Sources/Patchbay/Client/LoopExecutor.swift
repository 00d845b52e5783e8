import Dispatch
import Synchronization

/// Runs an actor's jobs one after the other, those of tasks that prefer it, and its errands when they are due.
///
/// The thread that does it keeps the time itself and stays a while when there is nothing to do: between a capture and the disk
/// stands one thread that has to wake, and no other that has to wake it.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// What the loop does at a time that was asked for.
    enum Errand {
        /// Storing what was captured.
        case store
        /// Giving what was stored its places.
        case place
    }

    private let line: Line

    init(label: String) { line = Line(DispatchQueue(label: label, qos: .utility)) }

    /// Says how errands are done; before that none is.
    func begin(_ run: @escaping @Sendable (Errand) -> Void) { line.begin(run) }

    deinit { line.forget() }

    /// Asks for an errand at a time, or earlier if it was asked for earlier. Called from any thread.
    func call(_ errand: Errand, at time: DispatchTime) { line.call(errand, at: time.uptimeNanoseconds) }

    func enqueue(_ job: consuming ExecutorJob) { line.add(Line.Job(job: UnownedJob(job), executor: self)) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(line.queue)) }
}

/// What waits for the thread of a ``LoopExecutor``.
private final class Line: Sendable {
    /// A job, and whom it runs on: that one stays until it is done.
    struct Job {
        let job: UnownedJob
        let executor: LoopExecutor

        func run() {
            job.runSynchronously(
                isolatedTo: executor.asUnownedSerialExecutor(),
                taskExecutor: executor.asUnownedTaskExecutor()
            )
        }
    }

    enum Step {
        case job(Job)
        case errand(LoopExecutor.Errand)
        case sleep(until: UInt64)
        case leave
    }

    struct State {
        var jobs: [Job] = []
        /// The jobs before this place are done.
        var firstJob = 0
        /// When the errands are due, in nanoseconds of ``DispatchTime``; `never` for one that nobody asked for.
        var storing = Line.never
        var placing = Line.never
        var hadStoring = false
        var hadPlacing = false
        /// Whether a thread is at work, or is to come.
        var isAtWork = false
        /// Until when the thread sleeps; nil while it does not.
        var sleepsUntil: UInt64?
        /// When the thread leaves; nil while there is something to do.
        var leavesAt: UInt64?
        var run: (@Sendable (LoopExecutor.Errand) -> Void)?
    }

    static let never = UInt64.max
    /// So long the thread stays when there is nothing to do, in nanoseconds.
    static let patience: UInt64 = 10_000_000

    let queue: DispatchQueue
    private let state = Mutex(State())
    private let alarm = Alarm()

    init(_ queue: DispatchQueue) { self.queue = queue }

    func begin(_ run: @escaping @Sendable (LoopExecutor.Errand) -> Void) { state.withLock { $0.run = run } }

    func add(_ job: Job) {
        wake { state in
            state.jobs.append(job)
            return 0
        }
    }

    func call(_ errand: LoopExecutor.Errand, at time: UInt64) {
        wake { state in
            switch errand {
            case .store: state.storing = min(state.storing, time)
            case .place: state.placing = min(state.placing, time)
            }
            return time
        }
    }

    /// There is nobody any more whose errands these are.
    func forget() {
        wake { state in
            (state.storing, state.placing) = (Line.never, Line.never)
            return 0
        }
    }

    /// Changes what waits; `change` gives the time at which the thread must look at it.
    private func wake(_ change: (inout State) -> UInt64) {
        let (isAlone, isAsleep) = state.withLock { state in
            let time = change(&state)
            guard state.isAtWork else {
                state.isAtWork = true
                return (true, false)
            }
            guard let end = state.sleepsUntil, time < end else { return (false, false) }
            state.sleepsUntil = nil
            return (false, true)
        }
        if isAlone { queue.async { self.work() } }
        if isAsleep { alarm.ring() }
    }

    private func work() {
        let run = state.withLock { $0.run }
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            switch state.withLock({ $0.next(now) }) {
            case .job(let job): job.run()
            case .errand(let errand): run?(errand)
            case .sleep(let time): alarm.wait(until: time)
            case .leave: return
            }
        }
    }
}

extension Line.State {
    /// Captures first, because somebody may wait for them; but of what is due nothing comes twice before all has come once.
    fileprivate mutating func next(_ now: UInt64) -> Line.Step {
        sleepsUntil = nil
        guard let step = due(now) else { return rest(now) }
        leavesAt = nil
        return step
    }

    private mutating func due(_ now: UInt64) -> Line.Step? {
        if storing <= now, !hadStoring { return store() }
        hadStoring = false
        if firstJob < jobs.count, hadPlacing || placing > now {
            hadPlacing = false
            return .job(takeJob())
        }
        if placing <= now {
            (placing, hadPlacing) = (Line.never, true)
            return .errand(.place)
        }
        return storing <= now ? store() : nil
    }

    private mutating func rest(_ now: UInt64) -> Line.Step {
        let end = leavesAt ?? now + Line.patience
        leavesAt = end
        let time = min(storing, placing)
        if time == Line.never, now >= end {
            (isAtWork, leavesAt) = (false, nil)
            return .leave
        }
        sleepsUntil = time == Line.never ? end : time
        return .sleep(until: sleepsUntil ?? now)
    }

    private mutating func store() -> Line.Step {
        (storing, hadStoring) = (Line.never, true)
        return .errand(.store)
    }

    private mutating func takeJob() -> Line.Job {
        let job = jobs[firstJob]
        firstJob += 1
        if firstJob == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            firstJob = 0
        }
        return job
    }
}
