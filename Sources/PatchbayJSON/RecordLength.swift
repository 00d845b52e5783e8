/// How long a record of a file may be.
public enum RecordLength: Sendable {
    /// The usual limit, in bytes with the line end: 1 MiB. A contact has some hundreds, one with thousands of values some
    /// hundred thousand, and what is longer is a quote that was never closed or no contact. Whoever reads a record holds it
    /// several times, so the limit bounds the memory.
    public static let usual = 1 << 20
}
