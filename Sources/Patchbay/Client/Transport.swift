public import PatchbayAdapterKit

/// Carries requests to vendors.
public protocol Transport: Sendable {
    /// Sends one request and waits for the answer, at most that long.
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome
}
