import Foundation

/// Which file a path leads to.
enum FilePlace {
    /// The same text for two paths of one file, there or not; nil for what is no plain file.
    static func text(_ path: String) -> String? {
        var info = stat()
        if stat(path, &info) == 0 {
            return info.st_mode & S_IFMT == S_IFREG ? "\(info.st_dev):\(info.st_ino)" : nil
        }
        return name(path)
    }

    /// Whether a plain file is there, which can be looked into without waiting.
    static func isFile(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// The file system that holds what is there; nil if nothing is.
    static func volume(of path: String) -> Int? {
        var info = stat()
        return stat(path, &info) == 0 ? Int(truncatingIfNeeded: info.st_dev) : nil
    }

    /// The file system on which a file of that path would stand; nil if there is no such folder.
    static func volume(ofFolderOf path: String) -> Int? {
        volume(of: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// The name that a path leads to, through links; another file may have it, too.
    static func name(_ path: String) -> String {
        if let text = realpath(path, nil) {
            defer { free(text) }
            return String(cString: text)
        }
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
        return "\(folder)/\(url.lastPathComponent)"
    }
}
