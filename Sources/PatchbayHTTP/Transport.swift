public import PatchbayAdapterKit

/// Carries one request to its vendor and brings back what became of it.
public protocol Transport: Sendable {
    /// Sends a request once, and answers within about `timeout`.
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome
}
