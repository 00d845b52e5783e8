import Foundation

/// Standard input, output and error, which the parent process may have left closed.
package enum StandardFiles {
    /// Opens `/dev/null` for each of them that is closed. Writing to a closed standard output then fails, so no lost byte
    /// counts as written.
    ///
    /// Must be called before the program opens any file. Otherwise the next file that is opened, such as a signal pipe or
    /// an outbox, gets the number of a standard file and is mistaken for it.
    package static func fillIn() {
        for file in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(file, F_GETFD) < 0 && errno == EBADF {
            // All below it are open, so this one is the lowest that is free.
            _ = open("/dev/null", file == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }
}
