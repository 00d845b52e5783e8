public import PatchbayAdapterKit

/// Carries requests to vendors.
///
/// What ``send(_:timeout:)`` does before it first waits, and between its waits, it does on the thread that stores and plans: it
/// should ask and wait, and leave long work and what blocks to a thread of its own.
public protocol Transport: Sendable {
    /// Sends one request and waits for the answer, at most that long.
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome
}
