import Foundation
import Synchronization

/// A pipe whose end tells every thread that waits: the server stops.
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

    /// Ends every wait, now and later.
    func raise() {
        writeEnd.withLock { end in
            if let open = end { close(open) }
            end = nil
        }
    }

    /// Waits for so long (nil: for ever), or until the peer of `socket` hangs up, or until the signal is raised.
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
    /// What poll is asked for to hear that the peer has closed; `POLLRDHUP`, which only Linux has.
    private static let hangUp: Int16 = 0x2000
    #else
    /// Elsewhere a full hang-up is always reported.
    private static let hangUp: Int16 = 0
    #endif
}
