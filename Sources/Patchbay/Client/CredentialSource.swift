public import PatchbayModel

/// A request for a credential, as a ``CredentialSource`` receives it.
public struct CredentialRequest: Hashable, Sendable {
    /// The name of the provider in the configuration.
    public let provider: String
    /// The contact whose operations need the credential; nil for the anonymous person.
    public let contact: String?
    /// The credential that must be replaced because the vendor refused it or because it has expired; nil otherwise.
    public let replacing: Secret?

    /// Creates a request.
    public init(provider: String, contact: String?, replacing: Secret? = nil) {
        (self.provider, self.contact, self.replacing) = (provider, contact, replacing)
    }

    /// The same request without the credential to replace: there is one at a time for a provider and contact.
    var withoutCredential: CredentialRequest { CredentialRequest(provider: provider, contact: contact) }
}

/// Provides the credentials by which a vendor authenticates the sender of a request.
///
/// ```swift
/// let credentials = CredentialSource { request in
///     try await backEnd.pushToken(for: request.contact)
/// }
/// ```
///
/// The client asks in the background and keeps the answer until the credential expires, the vendor refuses it, or the app
/// calls ``EngagementClient/credentialDidChange(for:)``:
///
/// - Operations without a usable credential wait. They are sent when the source answers.
/// - A JSON Web Token whose `exp` has passed counts as missing. Any other text is passed on as it is.
/// - After a refusal (HTTP 401) the client asks again, with the refused credential in ``CredentialRequest/replacing``. A
///   second refusal, of a different credential, is final: the operation ends as the adapter's settings say.
/// - If the source throws, the client asks again after 5 s, then after growing intervals of up to 5 minutes.
public struct CredentialSource: Sendable {
    /// How the source answers.
    enum Answering: Sendable {
        /// At once, at every look-up.
        case immediately(@Sendable (CredentialRequest) -> Secret?)
        /// In the background.
        case asynchronously(@Sendable (CredentialRequest) async throws -> Secret?)
    }

    let answering: Answering

    /// Creates a source that asks the app.
    ///
    /// - Parameter credential: Returns the credential; nil if there is none now.
    public init(_ credential: @escaping @Sendable (CredentialRequest) async throws -> Secret?) {
        answering = .asynchronously(credential)
    }

    package init(immediate credential: @escaping @Sendable (CredentialRequest) -> Secret?) {
        answering = .immediately(credential)
    }

    /// Returns a source with one credential for every provider and contact.
    public static func constant(_ credential: Secret?) -> CredentialSource {
        CredentialSource(immediate: { _ in credential })
    }

    /// Returns a source with the credentials that a configuration holds.
    public static func configured(in configuration: Configuration) -> CredentialSource {
        CredentialSource(immediate: { configuration.credential(of: $0.provider, for: $0.contact) })
    }
}
