/// What is said of a file that has to be unpacked before anybody can read it.
public enum PackedFile: Sendable {
    /// Whether bytes begin as a gzip or a ZIP file does.
    public static func begins(with bytes: some Sequence<UInt8>) -> Bool {
        let head = Array(bytes.prefix(4))
        return head.starts(with: [0x1F, 0x8B]) || head == [0x50, 0x4B, 0x03, 0x04]
    }

    /// The same finding about a file that is packed.
    public static func finding(_ finding: Finding) -> Finding {
        var finding = finding
        finding.reason = "The file is compressed (gzip or ZIP), so there are no rows in it to read."
        finding.remedy = "Unpack it on the way: zcat FILE | patchbay migrate …, or unzip -p FILE | patchbay migrate …"
        return finding
    }
}
