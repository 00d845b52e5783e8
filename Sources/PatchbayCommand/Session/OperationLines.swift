import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

/// Reads operations, one JSON object a line; a bad line is named and the others go on.
struct OperationLines {
    /// One line that is not empty.
    struct Line: Sendable {
        /// The line's number, from 1.
        let number: Int
        /// The operation, or why it is none.
        let operation: Result<EngagementOperation, Fault>
    }

    /// Why a line is no operation.
    struct Fault: Error, Hashable, Sendable {
        /// What, where, how to mend; never the line's text.
        let finding: Finding
    }

    private var lines = LineSplitter(maximumLength: 4 << 20)
    /// Members that an operation may leave out, by line.
    private let defaults: (Int) -> JSONObject

    /// A reader at the start of an input.
    ///
    /// - Parameter defaults: what stands for members that a line leaves out.
    init(defaults: @escaping (Int) -> JSONObject = { _ in [:] }) { self.defaults = defaults }

    /// The lines that the next bytes complete; nil bytes are the end.
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

    /// The remedy of an error; a subject that is missing may also be named on the command line.
    private static func remedy(of error: ModelError) -> String {
        error.path == "subject" && error.isMissing ? "Add \"subject\", or name it with --subject." : error.remedy
    }

    private static let notJSON = FindingRow(
        "operation.json",
        .error,
        .invalid,
        reason: "The line is not JSON",
        remedy: "Write one operation per line, and correct the text at this position."
    )
    private static let notOperation = FindingRow(
        "operation.invalid",
        .error,
        .invalid,
        reason: "The line is not a valid operation",
        remedy: "Correct the value at this path."
    )
    private static let tooLong = FindingRow(
        "operation.length",
        .error,
        .tooLarge,
        reason: "The line is longer than an operation may be, and was skipped",
        remedy: "Write one operation per line."
    )
}

extension Session {
    /// Reads the operations of a file, chunk by chunk; output is handed over after each.
    ///
    /// - Parameters:
    ///   - path: the file; nil or `-` is standard input.
    ///   - defaults: what stands for members that a line leaves out.
    ///   - body: gets the lines of one chunk.
    /// - Throws: ``FileError`` if reading or handing over fails, and what `body` throws.
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

    /// Does something with each operation of the first argument's file; a line that is none is named.
    ///
    /// - Parameter body: gets the operation and its line; true if there is nothing to find fault with.
    /// - Returns: whether there was anything to find fault with.
    /// - Throws: ``FileError`` if reading or handing over fails, and what `body` throws.
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

    /// The name of the operations' file, for messages.
    func name(ofInput path: String?) -> String { path == nil || path == "-" ? "standard input" : path ?? "" }
}
