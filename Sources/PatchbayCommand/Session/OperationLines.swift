import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// Reads operations, one JSON object a line. An invalid line is reported, and reading continues with the next one.
struct OperationLines {
    /// One line that is not empty.
    struct Line: Sendable {
        /// The line's number, from 1.
        let number: Int
        /// The operation, or the reason why the line has none.
        let operation: Result<EngagementOperation, Fault>
    }

    /// The reason why a line is not a valid operation.
    struct Fault: Error, Hashable, Sendable {
        /// The reason, its location and the remedy; never the text of the line.
        let finding: Finding
    }

    private var lines = LineSplitter(maximumLength: 4 << 20)
    /// The default members of an operation, by line number.
    private let defaults: (Int) -> JSONObject

    /// Creates a reader at the start of an input.
    ///
    /// - Parameter defaults: Values for the members that a line omits.
    init(defaults: @escaping (Int) -> JSONObject = { _ in [:] }) { self.defaults = defaults }

    /// The lines that the next bytes complete. Nil marks the end of the input.
    mutating func read(_ bytes: [UInt8]?) -> [Line] {
        if let bytes { lines.append(bytes) } else { lines.finish() }
        var read: [Line] = []
        while let line = lines.next() {
            switch line {
            case .success(let line) where line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 }: continue
            case .success(let line):
                read.append(Line(number: line.number, operation: operation(line.bytes, number: line.number)))
            case .failure(let fault):
                let detail = "\(fault.length) bytes, the limit is \(fault.limit)"
                let finding = Self.tooLong.at(detail: detail)
                read.append(Line(number: fault.number, operation: .failure(Fault(finding: finding))))
            }
        }
        return read
    }

    private func operation(_ bytes: ArraySlice<UInt8>, number: Int) -> Result<EngagementOperation, Fault> {
        do {
            var json = try JSONValue(parsing: number == 1 ? bytes.withoutByteOrderMark : bytes)
            if case .object(var object) = json {
                for member in defaults(number) where object[member.name] == nil { object[member.name] = member.value }
                json = .object(object)
            }
            return .success(try EngagementOperation(json: json, at: ""))
        } catch let error as ModelError {
            return .failure(
                Fault(
                    finding: Self.notOperation.at(error.path, detail: error.statement, remedy: Self.remedy(of: error))
                )
            )
        } catch {
            let detail = (error as? JSONError).map { "column \($0.column): \($0.code.reason)" }
            return .failure(Fault(finding: Self.notJSON.at(detail: detail)))
        }
    }

    /// The remedy of an error. A missing subject may also be named on the command line.
    private static func remedy(of error: ModelError) -> String {
        error.path == "subject" && error.isMissing ? "Add \"subject\", or name it with --subject." : error.remedy
    }

    private static let notJSON = FindingRow(
        .error("operation.json", .invalid),
        reason: "The line is not JSON",
        remedy: "Write one operation per line, and correct the text at this position."
    )
    private static let notOperation = FindingRow(
        .error("operation.invalid", .invalid),
        reason: "The line is not a valid operation",
        remedy: "Correct the value at this path."
    )
    private static let tooLong = FindingRow(
        .error("operation.length", .tooLarge),
        reason: "The line is longer than an operation may be, and was skipped",
        remedy: "Write one operation per line."
    )
}

extension Session {
    /// Reads the operations of a file, chunk by chunk, and flushes the console after each chunk.
    ///
    /// - Parameters:
    ///   - path: The file; nil or `-` is standard input.
    ///   - defaults: Values for the members that a line omits.
    ///   - body: Receives the lines of one chunk.
    /// - Throws: ``FileError`` if reading or flushing fails, and the errors of `body`.
    func readOperations(
        _ path: String?,
        defaults: @escaping (Int) -> JSONObject,
        _ body: ([OperationLines.Line]) async throws -> Void
    ) async throws {
        var (source, lines, isAtEnd) = (try source(path), OperationLines(defaults: defaults), false)
        while !isAtEnd, interruption.signalNumber == nil {
            let chunk = try source.next()
            isAtEnd = chunk == nil
            try await body(lines.read(chunk))
            try console.flush()
        }
    }

    /// Calls a closure for each operation in the file of the first argument, and reports each invalid line.
    ///
    /// - Parameter body: Receives an operation and its line number. Returns true if it found no problem.
    /// - Returns: ``ExitStatus/findings`` if a line was invalid or `body` found a problem.
    /// - Throws: ``FileError`` if reading or flushing fails, and the errors of `body`.
    func forEachOperation(_ body: (EngagementOperation, Int) throws -> Bool) async throws -> ExitStatus {
        let path = invocation.argument(0)
        var status = ExitStatus.fine
        try await readOperations(path, defaults: operationDefaults(subject: "subject-1")) { lines in
            for line in lines {
                switch line.operation {
                case .failure(let fault):
                    console.say(fault.finding, at: "\(name(ofInput: path)):\(line.number)")
                    status = .findings
                case .success(let operation): if try !body(operation, line.number) { status = .findings }
                }
            }
        }
        return status
    }

    /// The name of the operations' file in messages.
    func name(ofInput path: String?) -> String { path == nil || path == "-" ? "standard input" : path ?? "" }
}
