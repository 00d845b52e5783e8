import Foundation

/// Standard input, output and error, which whoever started this program may have left closed.
package enum StandardFiles {
    /// Opens the system's empty file in the place of each that is closed. Whoever writes to standard output then is told that
    /// nobody can: nothing counts as written that went nowhere.
    ///
    /// The first thing that a program does: the next file that is opened gets the lowest free number, and a signal's pipe, or
    /// an outbox, would be taken for what somebody types.
    package static func fillIn() {
        for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(file, F_GETFD) < 0 && errno == EBADF {
            // All below it are open, so this one is the lowest that is free.
            _ = open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }
}
