/// Why the sandbox could not start or could not take an instruction.
public struct SandboxError: Error, Hashable, Sendable {
    /// What kind of trouble it is; an open list.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's spelling in output.
        public let rawValue: String

        /// Creates a code of that spelling.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The port could not be opened.
        public static let portUnavailable = Code(rawValue: "portUnavailable")
        /// The server's thread could not start.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// Two simulators answer to one name, or a name can't stand in a path.
        public static let badVendor = Code(rawValue: "badVendor")
        /// The log file could not be opened, written or read.
        public static let logFailed = Code(rawValue: "logFailed")
        /// A request to a control endpoint can't be understood.
        public static let badRequest = Code(rawValue: "badRequest")
        /// A fault rule can't be understood.
        public static let badFaultRule = Code(rawValue: "badFaultRule")
    }

    /// One thing that is wrong: where, what, and how to mend it.
    public struct Problem: Hashable, Sendable {
        /// A port, a file, or the JSON path of a rule's member (`/0/effect/status`).
        public let place: String
        /// What is wrong there.
        public let problem: String
        /// What mends it.
        public let remedy: String

        /// Creates a problem at a place, with its remedy.
        public init(_ place: String, _ problem: String, remedy: String) {
            self.place = place
            self.problem = problem
            self.remedy = remedy
        }
    }

    /// What kind of trouble it is.
    public let code: Code
    /// Everything that was found wrong, at least one.
    public let problems: [Problem]

    /// Creates an error of these problems.
    public init(_ code: Code, _ problems: [Problem]) {
        self.code = code
        self.problems = problems
    }

    /// Creates an error of one problem.
    init(_ code: Code, at place: String, _ problem: String, remedy: String) {
        self.init(code, [Problem(place, problem, remedy: remedy)])
    }
}

extension SandboxError: CustomStringConvertible {
    /// Each problem on its own line: place, problem, remedy.
    public var description: String {
        problems.map { "\($0.place): \($0.problem). \($0.remedy)" }.joined(separator: "\n")
    }
}
