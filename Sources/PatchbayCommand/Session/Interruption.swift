import Dispatch
import Foundation
import Synchronization

/// Ctrl-C and its kin: the first asks the program to end well, a second ends it at once.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)
    private let alarm: (read: Int32, write: Int32)

    /// Nothing has come yet.
    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        alarm = (ends[0], ends[1])
    }

    /// The signal that came, if one did.
    var signalNumber: Int32? { received.withLock { $0 } }

    fileprivate func note(_ number: Int32) {
        let isFirst = received.withLock { received in
            defer { received = received ?? number }
            return received == nil
        }
        guard isFirst else { _exit(128 + number) }
        _ = [0].withUnsafeBufferPointer { write(alarm.write, $0.baseAddress, 1) }
    }

    /// Waits until a signal comes, or until standard input has something to read or is at its end.
    func waitForInput() { wait(for: [STDIN_FILENO]) }

    /// Waits until a signal comes.
    func wait() { wait(for: []) }

    private func wait(for others: [Int32]) {
        while signalNumber == nil {
            var watched = ([alarm.read] + others).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if poll(&watched, nfds_t(watched.count), -1) >= 0 || errno != EINTR { return }
        }
    }
}

/// Turns the process's signals into an interruption, for as long as it lives.
@MainActor final class SignalListener {
    private let sources: [any DispatchSourceSignal]

    /// Listens from now on.
    init(_ interruption: Interruption) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
            source.setEventHandler { @Sendable in interruption.note(number) }
            source.resume()
            return source
        }
        // Whoever reads our output may leave: writing says so, and the program ends quietly.
        signal(SIGPIPE, SIG_IGN)
    }
}
