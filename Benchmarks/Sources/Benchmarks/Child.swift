import Foundation

/// Another process: for memory that is nobody else's, and for the time that a start takes.
enum Child {
    /// This program with other words; what it says.
    static func ours(_ arguments: [String]) throws -> String {
        try run([CommandLine.arguments[0]] + arguments).output
    }

    /// Runs a program to its end and gives what it said and how long it took, in milliseconds.
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
        guard process.terminationStatus == 0 else {
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
