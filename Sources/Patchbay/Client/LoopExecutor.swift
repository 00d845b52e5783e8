import Dispatch
import PatchbaySystem
import Synchronization

/// Runs an actor's jobs in order, the jobs of tasks that prefer this executor, and its errands when they are due.
///
/// The thread keeps its own timer and stays for a while when it is idle. A caller who needs an errand done at once runs it on
/// its own thread while the executor's thread is idle, so that no thread has to be woken between a capture and the disk.
final class LoopExecutor: SerialExecutor, TaskExecutor {
    /// Work that the loop does at a requested time.
    enum Errand {
        /// Stores captures.
        case store
        /// Routes staged captures.
        case place
    }

    private let line: Line

    init(label: String) { line = Line(DispatchQueue(label: label, qos: .utility)) }

    /// Sets the closure that runs errands. No errand runs before that.
    func begin(_ run: @escaping @Sendable (Errand) -> Void) { line.begin(run) }

    deinit { line.forget() }

    /// Schedules an errand, unless it is already scheduled for an earlier time. Call it from any thread.
    func call(_ errand: Errand, at time: DispatchTime) { line.call(errand, at: time.uptimeNanoseconds) }

    /// Runs an errand on the calling thread if the loop is idle and nothing else is due.
    ///
    /// It may block for as long as a disk access takes.
    ///
    /// - Returns: Whether the errand has run.
    func doNow(_ errand: Errand) -> Bool { line.doNow(errand) }

    func enqueue(_ job: consuming ExecutorJob) { line.add(Line.Job(job: UnownedJob(job), executor: self)) }

    func checkIsolated() { precondition(line.isHere, "This must run on the loop, and runs elsewhere.") }
}

/// The jobs and errands of a ``LoopExecutor``, and its thread.
private final class Line: Sendable {
    /// A job and its executor, which is kept alive until the job is done.
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
        /// The index of the first job that has not run.
        var firstJob = 0
        /// The times at which the errands are due, in nanoseconds of ``DispatchTime``; `never` if an errand is not scheduled.
        var storing = Line.never
        var placing = Line.never
        var hadStoring = false
        var hadPlacing = false
        /// Whether a thread is running or starting.
        var isAtWork = false
        /// Whether the thread has started.
        var hasCome = false
        /// The time until which the thread sleeps; nil while it is awake.
        var sleepsUntil: UInt64?
        /// Whether a caller is running an errand instead of the thread.
        var isLent = false
        /// The time at which the idle thread ends; nil while there is work.
        var leavesAt: UInt64?
        var run: (@Sendable (LoopExecutor.Errand) -> Void)?
    }

    static let never = UInt64.max
    /// The time that an idle thread stays, in nanoseconds.
    static let timeout: UInt64 = 10_000_000
    /// The time that an idle thread sleeps at once, in nanoseconds. An errand that is due later need not wake it.
    static let nap: UInt64 = 2_000_000

    private let queue: DispatchQueue
    private let state = Mutex(State())
    private let alarm = Alarm()
    /// The number of the thread that runs jobs and errands now; 0 for none.
    private let holder = Atomic<UInt>(0)

    /// Whether the calling thread is the one that runs them.
    var isHere: Bool { holder.load(ordering: .relaxed) == System.threadNumber }

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

    /// Cancels the errands, because the executor is gone.
    func forget() {
        wake { state in
            (state.storing, state.placing) = (Line.never, Line.never)
            return 0
        }
    }

    /// Changes the state and wakes the thread if necessary. `change` returns the time at which the thread must check the
    /// state.
    private func wake(_ change: (inout State) -> UInt64) {
        begin(
            state.withLock { state in
                let time = change(&state)
                return state.isLent ? .no : state.call(at: time)
            }
        )
    }

    private func begin(_ need: State.Need) {
        switch need {
        case .no: break
        case .thread: queue.async { self.work() }
        case .alarm: alarm.ring()
        }
    }

    func doNow(_ errand: LoopExecutor.Errand) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        guard let run = state.withLock({ $0.lend(now, errand) }) else { return false }
        hold { run(errand) }
        begin(state.withLock { $0.giveBack() })
        return true
    }

    private func work() {
        let run = state.withLock { state in
            state.hasCome = true
            return state.run
        }
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            switch state.withLock({ $0.next(now) }) {
            case .job(let job): hold { job.run() }
            case .errand(let errand): hold { run?(errand) }
            case .sleep(let time): alarm.wait(until: time)
            case .leave: return
            }
        }
    }

    /// Runs a closure with the calling thread noted as the one that runs jobs.
    private func hold(_ body: () -> Void) {
        holder.store(System.threadNumber, ordering: .relaxed)
        body()
        holder.store(0, ordering: .relaxed)
    }
}

extension Line.State {
    /// What is needed for the thread to check the state: nothing, a new thread, or an alarm.
    fileprivate enum Need {
        case no, thread, alarm
    }

    /// Requests a check at a time.
    fileprivate mutating func call(at time: UInt64) -> Need {
        guard isAtWork else {
            isAtWork = true
            return .thread
        }
        guard let end = sleepsUntil, time < end else { return .no }
        sleepsUntil = nil
        return .alarm
    }

    /// Lets a caller run one errand instead of the thread; nil if the thread is busy, or if something else is due.
    fileprivate mutating func lend(
        _ now: UInt64,
        _ errand: LoopExecutor.Errand
    ) -> (@Sendable (LoopExecutor.Errand) -> Void)? {
        let rests = !isAtWork || !hasCome || sleepsUntil != nil
        let other = errand == .store ? placing : storing
        guard rests, !isLent, firstJob == jobs.count, other > now, let run else { return nil }
        isLent = true
        switch errand {
        case .store: storing = Line.never
        case .place: placing = Line.never
        }
        return run
    }

    /// Returns the errand to the thread after the caller has run it, together with the work that arrived meanwhile.
    fileprivate mutating func giveBack() -> Need {
        isLent = false
        let next = firstJob < jobs.count ? 0 : min(storing, placing)
        if next == Line.never, sleepsUntil != Line.never { return .no }
        return call(at: next == Line.never ? 0 : next)
    }

    /// Returns the next step. Storing comes first, because a caller may wait for it, but no kind of work runs twice before
    /// all due kinds have run once.
    fileprivate mutating func next(_ now: UInt64) -> Line.Step {
        sleepsUntil = nil
        if isLent {
            sleepsUntil = Line.never
            return .sleep(until: Line.never)
        }
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
        let end = leavesAt ?? now + Line.timeout
        leavesAt = end
        let time = min(storing, placing)
        if time == Line.never, now >= end {
            (isAtWork, hasCome, leavesAt) = (false, false, nil)
            return .leave
        }
        let isLong = time != Line.never && time > now + Line.timeout
        let wakes = isLong ? time : min(time, now + Line.nap)
        sleepsUntil = wakes
        return .sleep(until: wakes)
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
