/// An error that prevents the sandbox from starting or from following an instruction.
public struct SandboxError: Error, Hashable, Sendable {
    /// The kind of error. The list is open.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The text of the code in output.
        public let rawValue: String

        /// Creates a code from its text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The port could not be opened.
        public static let portUnavailable = Code(rawValue: "portUnavailable")
        /// The server's thread could not start.
        public static let serverFailed = Code(rawValue: "serverFailed")
        /// Two simulators have the same name, or a name is not valid in a path.
        public static let badVendor = Code(rawValue: "badVendor")
        /// The log file could not be opened, written, or read.
        public static let logFailed = Code(rawValue: "logFailed")
        /// A request to a control endpoint is invalid.
        public static let badRequest = Code(rawValue: "badRequest")
        /// A fault rule is invalid.
        public static let badFaultRule = Code(rawValue: "badFaultRule")
    }

    /// A problem: where it is, what it is, and how to fix it.
    public struct Problem: Hashable, Sendable {
        /// A port, a file, or the JSON path of a rule's member (`/0/effect/status`).
        public let place: String
        /// The problem.
        public let problem: String
        /// How to fix it.
        public let remedy: String

        /// Creates a problem with its place and remedy.
        public init(_ place: String, _ problem: String, remedy: String) {
            self.place = place
            self.problem = problem
            self.remedy = remedy
        }
    }

    /// The kind of error.
    public let code: Code
    /// All problems that were found; at least one.
    public let problems: [Problem]

    /// Creates an error with these problems.
    public init(_ code: Code, _ problems: [Problem]) {
        self.code = code
        self.problems = problems
    }

    /// Creates an error with one problem.
    init(_ code: Code, at place: String, _ problem: String, remedy: String) {
        self.init(code, [Problem(place, problem, remedy: remedy)])
    }
}

extension SandboxError: CustomStringConvertible {
    /// One line per problem: place, problem, remedy.
    public var description: String {
        problems.map { "\($0.place): \($0.problem). \($0.remedy)" }.joined(separator: "\n")
    }
}
