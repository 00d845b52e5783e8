import Dispatch
import PatchbaySystem
import Synchronization

/// Runs an actor's jobs one after the other, those of tasks that prefer it, and its errands when they are due.
///
/// The thread that does it keeps the time itself and stays a while when there is nothing to do. A caller who would wait for an
/// errand does it in the thread's place while that one rests: between a capture and the disk nobody has to wake.
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

    /// Does an errand on the calling thread if the loop rests and nothing else is due; says whether it did. It may block for as
    /// long as the disk takes.
    func doNow(_ errand: Errand) -> Bool { line.doNow(errand) }

    func enqueue(_ job: consuming ExecutorJob) { line.add(Line.Job(job: UnownedJob(job), executor: self)) }

    func checkIsolated() { precondition(line.isHere, "This must run on the loop, and runs elsewhere.") }
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
        /// Whether it has come.
        var hasCome = false
        /// Until when the thread sleeps; nil while it does not.
        var sleepsUntil: UInt64?
        /// Whether a caller does an errand in the thread's place.
        var isLent = false
        /// When the thread leaves; nil while there is something to do.
        var leavesAt: UInt64?
        var run: (@Sendable (LoopExecutor.Errand) -> Void)?
    }

    static let never = UInt64.max
    /// So long the thread stays when there is nothing to do, in nanoseconds.
    static let timeout: UInt64 = 10_000_000
    /// So long it sleeps at a time meanwhile: who asks for an errand that much later need not wake it.
    static let nap: UInt64 = 2_000_000

    private let queue: DispatchQueue
    private let state = Mutex(State())
    private let alarm = Alarm()
    /// The thread that runs the jobs and errands now; 0 for none.
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

    /// There is nobody any more whose errands these are.
    func forget() {
        wake { state in
            (state.storing, state.placing) = (Line.never, Line.never)
            return 0
        }
    }

    /// Changes what waits; `change` gives the time at which the thread must look at it.
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

    /// Does something as the one thread that may.
    private func hold(_ body: () -> Void) {
        holder.store(System.threadNumber, ordering: .relaxed)
        body()
        holder.store(0, ordering: .relaxed)
    }
}

extension Line.State {
    /// What it takes that the thread looks at what waits.
    fileprivate enum Need {
        case no, thread, alarm
    }

    /// Something waits from a time on.
    fileprivate mutating func call(at time: UInt64) -> Need {
        guard isAtWork else {
            isAtWork = true
            return .thread
        }
        guard let end = sleepsUntil, time < end else { return .no }
        sleepsUntil = nil
        return .alarm
    }

    /// Lends the thread's place to a caller, for one errand; nil if the thread is busy, or something else is due.
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

    /// The caller has done the errand: what came meanwhile is for the thread.
    fileprivate mutating func giveBack() -> Need {
        isLent = false
        let next = firstJob < jobs.count ? 0 : min(storing, placing)
        if next == Line.never, sleepsUntil != Line.never { return .no }
        return call(at: next == Line.never ? 0 : next)
    }

    /// Captures first, because somebody may wait for them; but of what is due nothing comes twice before all has come once.
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
