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

/// Where the signal handler writes the number of the signal; a handler may touch nothing else.
private let signalPipe = Atomic<Int32>(-1)

/// Turns the process's signals into an interruption, for as long as it lives.
///
/// A handler that writes to a pipe loses no signal, whichever thread it meets; a signal that is ignored and watched for
/// can be lost while the watch is being set up.
@MainActor final class SignalListener {
    private let source: any DispatchSourceRead

    /// Listens from now on.
    init(_ interruption: Interruption) {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        let inlet = ends[0]
        signalPipe.store(ends[1], ordering: .sequentiallyConsistent)
        source = DispatchSource.makeReadSource(fileDescriptor: inlet, queue: .global(qos: .userInitiated))
        source.setEventHandler { @Sendable in
            var number: UInt8 = 0
            if read(inlet, &number, 1) == 1 { interruption.note(Int32(number)) }
        }
        source.resume()
        // Whoever started us may have left signals blocked, and a blocked signal meets no handler.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
            }
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // Whoever reads our output may leave: writing says so, and the program ends quietly.
        signal(SIGPIPE, SIG_IGN)
        // So does a file that may not become longer.
        signal(SIGXFSZ, SIG_IGN)
    }
}
