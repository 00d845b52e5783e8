import Foundation
import Synchronization

/// A pipe that signals to all waiting threads that the server stops.
final class StopSignal: Sendable {
    private let readEnd: Int32
    private let writeEnd: Mutex<Int32?>

    init() throws(SandboxError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw SandboxError(
                .serverFailed,
                at: "stop signal",
                "no pipe (\(String(cString: strerror(errno))))",
                remedy: "Look for a limit on open files."
            )
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd = ends[0]
        writeEnd = Mutex(ends[1])
    }

    deinit {
        raise()
        close(readEnd)
    }

    /// Ends all current and future waits.
    func raise() {
        writeEnd.withLock { end in
            if let open = end { close(open) }
            end = nil
        }
    }

    /// Waits for a duration (nil: without limit), until the peer of `socket` disconnects, or until the signal is raised.
    func wait(milliseconds: Int?, orHangUpOf socket: Int32) {
        let clock = ContinuousClock()
        let end = milliseconds.map { clock.now + .milliseconds($0) }
        while true {
            let left = end.map { Int32(max(0, (($0 - clock.now) / .milliseconds(1)).rounded(.up))) } ?? -1
            var watched = [
                pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: socket, events: Self.hangUp, revents: 0),
            ]
            let count = poll(&watched, nfds_t(watched.count), left)
            if count < 0 && errno == EINTR { continue }
            return
        }
    }

    #if os(Linux)
    /// The poll event for a peer that has disconnected: `POLLRDHUP`, which exists only on Linux.
    private static let hangUp: Int16 = 0x2000
    #else
    /// Other platforms always report a complete hang-up.
    private static let hangUp: Int16 = 0
    #endif
}
