public import PatchbayAdapterKit

/// Sends requests to vendors.
///
/// ``send(_:timeout:)`` runs on the thread that stores and plans. It should only start the request and wait for it
/// asynchronously. Move long computations and blocking calls to another thread.
public protocol Transport: Sendable {
    /// Sends a request and waits for the response, at most for `timeout`.
    func send(_ request: WireRequest, timeout: Duration) async -> Outcome
}
