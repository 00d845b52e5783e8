/// An error of the outbox's storage: what happened, where, and how to fix it.
///
/// Its texts name files, tables, and sizes, never a stored value.
package struct OutboxError: Error, Equatable, CustomStringConvertible {
    /// The kinds of error.
    package enum Code: String, Sendable, CaseIterable {
        /// The file or its folder cannot be opened, or the file is not an outbox.
        case cannotOpen
        /// The file can be read but not written.
        case readOnly
        /// The volume, or the file's own limit, has no room left.
        case full
        /// Another process holds the file longer than the busy timeout.
        case busy
        /// The file has a different schema version; it is left unchanged.
        case otherVersion
        /// The file's structure is damaged.
        case corrupt
        /// The operating system failed to read or write.
        case io
        /// A call that violates the store's rules.
        case misuse
    }

    package let code: Code
    package let detail: String
    package let remedy: String

    package init(_ code: Code, _ detail: String, remedy: String? = nil) {
        self.code = code
        self.detail = detail
        self.remedy = remedy ?? code.remedy
    }

    package var description: String { "outbox: \(detail) \(remedy)" }
}

extension OutboxError.Code {
    /// The remedy that applies to every error of this code.
    var remedy: String {
        switch self {
        case .cannotOpen: "Check that the folder exists and that this user may create files in it."
        case .readOnly: "Allow this user to write the file and its folder, or open the file read-only."
        case .full: "Free space on the disk of the outbox, or lower its storage limits. Stored operations are safe."
        case .busy: "Another process is writing. Try again; if that does not help, look for a process that hangs."
        case .otherVersion:
            "Use the release of this program that made the file, or another outbox file. The file was not changed."
        case .corrupt: "Close the outbox and open it again. It is recovered then, and the old file is kept beside it."
        case .io: "Check the volume for faults, then open the outbox again."
        case .misuse: "This is a fault in the calling code. Please report it."
        }
    }
}
