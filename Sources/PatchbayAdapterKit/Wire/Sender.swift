/// The name and version of Patchbay in requests, on the command line, and in reports.
public enum Sender: Sendable {
    /// The version of this package, for example `0.1.0`.
    public static let version = "0.1.0"
    /// The name with the version, for example `Patchbay/0.1.0`: the `User-Agent` of a request that has no other.
    public static let name = "Patchbay/\(version)"
}
