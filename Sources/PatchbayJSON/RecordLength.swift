/// The maximum length of a record.
public enum RecordLength: Sendable {
    /// The default limit in bytes, including the line end: 1 MiB. A contact has some hundred bytes, and one with thousands of
    /// values some hundred thousand. A longer record is an unclosed quote or not a contact. Because a record is held in memory
    /// several times, the limit bounds the memory.
    public static let usual = 1 << 20
}
