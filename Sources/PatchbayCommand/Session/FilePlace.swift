import Foundation

/// Compares paths by the file that they lead to.
enum FilePlace {
    /// Returns equal texts for two paths of the same file, even if the file does not exist; nil if the path is not a
    /// regular file.
    static func text(_ path: String) -> String? {
        var info = stat()
        if stat(path, &info) == 0 {
            return info.st_mode & S_IFMT == S_IFREG ? "\(info.st_dev):\(info.st_ino)" : nil
        }
        return name(path)
    }

    /// Whether the path is a regular file, which can be read without blocking.
    static func isFile(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// The file system of the file at a path; nil if there is no file.
    static func volume(of path: String) -> Int? {
        var info = stat()
        return stat(path, &info) == 0 ? Int(truncatingIfNeeded: info.st_dev) : nil
    }

    /// The file system of the folder in which a path is located; nil if there is no such folder.
    static func volume(ofFolderOf path: String) -> Int? {
        volume(of: URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// The path of the file to which links lead; another file may have the same path.
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
