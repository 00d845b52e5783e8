import Dispatch
import Foundation
import Synchronization

/// The state of Ctrl-C and similar signals. The first signal asks the program to stop cleanly; a second one kills it at
/// once.
final class Interruption: Sendable {
    private let received = Mutex<Int32?>(nil)
    private let alarm: (read: Int32, write: Int32)

    /// Creates an interruption that has received no signal.
    init() {
        var ends: [Int32] = [-1, -1]
        _ = pipe(&ends)
        alarm = (ends[0], ends[1])
    }

    /// The number of the received signal; nil if there was none.
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

/// The pipe to which the signal handler writes the number of the signal. A handler may access nothing else.
private let signalPipe = Atomic<Int32>(-1)

/// Forwards the signals of the process to an interruption while it lives.
///
/// The handler writes to a pipe, so no signal is lost, whichever thread receives it. An ignored signal that is watched can
/// be lost while the watch is being set up.
@MainActor final class SignalListener {
    private let source: any DispatchSourceRead

    /// Starts to listen.
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
        // The parent process may have left signals blocked, and a blocked signal reaches no handler.
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
        // If the reader of standard output exits, the write fails with an error and the program ends without a message.
        signal(SIGPIPE, SIG_IGN)
        // The same holds for a file that has reached its size limit.
        signal(SIGXFSZ, SIG_IGN)
    }
}
