import Dispatch
import Synchronization

/// The threads that map jobs, including the calling thread. Results are returned in the order of the jobs.
///
/// The number of jobs in progress is limited, which limits the memory.
struct MappingThreads: ~Copyable {
    private struct Task: Sendable {
        let number: Int
        let job: ChunkJob
        var output: OutputBuffer

        /// Maps the job into its output. The output has a single owner then, so it is filled in place.
        mutating func mapped(by mapper: inout ChunkMapper) -> Result<ChunkResult, FileError> {
            var output = OutputBuffer()
            swap(&output, &self.output)
            do throws(FileError) {
                return .success(try mapper.map(job, consume output))
            } catch {
                return .failure(error)
            }
        }
    }

    private final class Queue: Sendable {
        private struct State {
            var tasks: [Task] = []
            var results: [Int: Result<ChunkResult, FileError>] = [:]
        }

        private let state = Mutex(State())
        let hasTask = DispatchSemaphore(value: 0)
        let hasResult = DispatchSemaphore(value: 0)

        func add(_ task: Task) { state.withLock { $0.tasks.append(task) } }
        /// The next task; nil once the queue was cleared.
        func takeTask() -> Task? { state.withLock { $0.tasks.isEmpty ? nil : $0.tasks.removeFirst() } }
        func clear() { state.withLock { $0.tasks = [] } }

        func add(_ result: Result<ChunkResult, FileError>, of number: Int) {
            state.withLock { $0.results[number] = result }
        }

        func takeResult(of number: Int) -> Result<ChunkResult, FileError>? {
            state.withLock { $0.results.removeValue(forKey: number) }
        }
    }

    private let queue = Queue()
    private let threads = DispatchGroup()
    /// The number of threads in addition to the calling one.
    private let others: Int
    private var mapper: ChunkMapper
    private let limit: Int
    private var submitted = 0
    private var taken = 0

    /// Starts threads, each with a mapper of its own.
    init(
        _ plan: BulkPlan,
        _ header: BulkPlan.Header?,
        _ consent: ConsentReceiver,
        _ mapper: consuming ChunkMapper,
        workers: Int
    ) {
        self.mapper = mapper
        others = workers - 1
        // One job for each thread and two waiting jobs, so that no thread is idle while the calling one reads and writes.
        limit = workers == 1 ? 1 : workers + 2
        let label = DispatchQueue(label: "patchbay.migration", qos: .userInitiated, attributes: .concurrent)
        let (use, known) = (consent.use, consent.known)
        for _ in 0..<others {
            label.async(group: threads) { [queue] in
                // The calling thread has created a mapper from the same plan, so this cannot fail.
                let made = try? plan.makeMapper(behind: header, use, applying: known.map(EarlierOptOuts.init(known:)))
                guard let made else { return }
                var mapper = made
                while true {
                    queue.hasTask.wait()
                    guard var task = queue.takeTask() else { return }
                    queue.add(task.mapped(by: &mapper), of: task.number)
                    queue.hasResult.signal()
                }
            }
        }
    }

    /// Drops the jobs that no thread has begun, and waits for the threads to end.
    func close() {
        queue.clear()
        for _ in 0..<others { queue.hasTask.signal() }
        threads.wait()
    }

    mutating func submit(_ job: ChunkJob, _ output: consuming OutputBuffer) {
        queue.add(Task(number: submitted, job: job, output: consume output))
        queue.hasTask.signal()
        submitted += 1
    }

    /// Returns the next result in the order of the jobs; nil while another job may be submitted, and if none is in
    /// progress. With `isLast`, waits for all results.
    mutating func next(isLast: Bool) throws(FileError) -> ChunkResult? {
        guard submitted > taken, isLast || submitted - taken >= limit else { return nil }
        defer { taken += 1 }
        while true {
            if let result = queue.takeResult(of: taken) { return try result.get() }
            // The calling thread maps jobs while it waits, because waking a sleeping thread costs more than a job.
            guard queue.hasTask.wait(timeout: .now()) == .success else {
                queue.hasResult.wait()
                continue
            }
            guard var task = queue.takeTask() else { continue }
            let result = task.mapped(by: &mapper)
            if task.number == taken { return try result.get() }
            queue.add(result, of: task.number)
        }
    }
}
