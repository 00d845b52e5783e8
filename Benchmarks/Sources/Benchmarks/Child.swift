import Foundation

/// Another process, to measure memory that no other code shares, and the duration of a start.
enum Child {
    /// This program with other words; what it says.
    static func ours(_ arguments: [String]) throws -> String { try output(of: [CommandLine.arguments[0]] + arguments) }

    /// The two figures that this program with other words says.
    static func twoFigures(_ arguments: [String]) throws -> [Double] {
        let figures = try ours(arguments).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == 2 else { throw WrongResult("The child says something else.") }
        return figures
    }

    /// What a program says that a small process starts: a child begins with the peak memory of the process that starts it.
    private static func output(of words: [String]) throws -> String {
        let script = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        return try run([python(), "-c", script] + words).output
    }

    /// The peak memory of a program in MiB, measured by a small process.
    static func peakMemory(of words: [String]) throws -> Double {
        let script = """
            import resource, subprocess, sys
            status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
            sys.exit(status)
            """
        let peak = Double(try run([python(), "-c", script] + words).output.filter { !$0.isWhitespace })
        #if canImport(Darwin)
        return (peak ?? 0) / 1_048_576
        #else
        return (peak ?? 0) / 1024
        #endif
    }

    /// The interpreter itself: what stands first on the path may be a script that looks for it.
    static func python() throws -> String {
        try run(["/usr/bin/env", "python3", "-c", "import sys; print(sys.executable)"]).output
            .filter { !$0.isNewline }
    }

    /// Runs a program to its end and gives what it said and how long it took, in milliseconds.
    ///
    /// A migration that found something, as every one here does, ends with 1.
    @discardableResult
    static func run(_ words: [String], in folder: String? = nil) throws -> (output: String, milliseconds: Double) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        let pipe = Pipe()
        process.standardOutput = pipe
        let clock = ContinuousClock()
        let start = clock.now
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let took = (clock.now - start) / .milliseconds(1)
        guard process.terminationStatus == (words.contains("apply") ? 1 : 0) else {
            throw WrongResult("\(words.joined(separator: " ")) ended with \(process.terminationStatus).")
        }
        return (String(decoding: output, as: UTF8.self), took)
    }

    /// The most memory that this process has held, in MiB.
    static var peakMemory: Double {
        var usage = rusage()
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        return Double(usage.ru_maxrss) / 1_048_576
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1024
        #endif
    }
}
