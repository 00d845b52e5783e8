import PatchbayAdapterKit

/// The explanation of a failed request for people: the host, the cause and the remedy.
struct RequestFailure {
    /// The normalised cause.
    let error: ErrorCode
    /// The reason, in one sentence.
    let reason: String
    /// The remedy for this cause.
    let remedy: String
    /// The host and status, for use inside another sentence.
    let brief: String

    /// Explains an outcome that is not a success.
    init(_ outcome: Outcome, to request: WireRequest) {
        let host = request.host
        switch outcome {
        case .replied(let response):
            let row = Self.status(response.status)
            (error, remedy) = (row.error, row.remedy)
            brief = "\(host): HTTP \(response.status)"
            let rest = response.isSuccess ? ", but did not confirm the operation" : ""
            reason = "\(host) answered HTTP \(response.status)\(rest)."
        case .failed(let failure):
            let row =
                Self.connections[failure.code] ?? Connection(.unreachable, "The request to %@ failed", Self.repeats)
            (error, remedy, brief) = (row.error, row.remedy, "\(host): \(failure.code)")
            let known = Self.connections[failure.code] != nil
            reason = row.sentence.replacing("%@", with: host) + (known ? "." : " (\(failure.code)).")
        }
    }

    private struct Connection {
        let error: ErrorCode
        /// `%@` stands for the host.
        let sentence: String
        let remedy: String

        init(_ error: ErrorCode, _ sentence: String, _ remedy: String) {
            (self.error, self.sentence, self.remedy) = (error, sentence, remedy)
        }
    }

    private static let repeats = "The engine repeats the request."
    private static let certificate =
        "Install the certificate authority, or correct the URL in the provider settings."

    private static let proxy = "Correct transport.proxy in the configuration, or allow the host at the proxy."

    /// The explanations by the transport's code.
    private static let connections: [String: Connection] = [
        "offline": Connection(
            .unreachable,
            "This machine has no network connection",
            "Connect to the network; delivery then resumes."
        ),
        "hostNotFound": Connection(
            .unreachable,
            "The host name %@ cannot be resolved (DNS)",
            "Check the network and the URL in the provider settings."
        ),
        "cannotConnect": Connection(
            .unreachable,
            "%@ does not accept connections",
            "Check the network, a firewall, and the URL in the provider settings."
        ),
        "proxyNotFound": Connection(.unreachable, "The host name of the proxy cannot be resolved (DNS)", proxy),
        "proxyRefused": Connection(.unreachable, "The proxy refuses to connect to %@", proxy),
        "secureConnectionFailed": Connection(
            .unreachable,
            "A secure connection (TLS) to %@ could not be set up",
            "Check the URL in the provider settings and proxies that inspect TLS."
        ),
        "certificateRefused": Connection(.unreachable, "The TLS certificate of %@ is not trusted", certificate),
        "certificateSelfSigned": Connection(
            .unreachable,
            "The TLS certificate of %@ is not trusted (self-signed)",
            certificate
        ),
        "certificateExpired": Connection(
            .unreachable,
            "The TLS certificate of %@ is not valid at this time",
            "Check the clock of this machine, or have the certificate renewed."
        ),
        "certificateOfAnotherHost": Connection(
            .unreachable,
            "The TLS certificate is not for %@",
            "Correct the URL in the provider settings."
        ),
        "clientCertificateRefused": Connection(
            .unauthenticated,
            "%@ requires a client certificate",
            "Correct the URL in the provider settings: client certificates are not supported."
        ),
        "insecureConnection": Connection(
            .misconfigured,
            "The system does not allow unencrypted connections to %@",
            "Use an https URL in the provider settings."
        ),
        "timedOut": Connection(.unreachable, "%@ did not answer in time", repeats),
        "connectionLost": Connection(.unreachable, "The connection to %@ was lost before the reply", repeats),
        "cancelled": Connection(.unreachable, "The request to %@ was cancelled", repeats),
        "badResponse": Connection(
            .unavailable,
            "%@ sent a reply that is not valid HTTP",
            "Check the URL in the provider settings and proxies on the way."
        ),
        "replyTooLong": Connection(
            .unavailable,
            "The reply of %@ is longer than allowed",
            "Check the URL in the provider settings."
        ),
        "processEnded": Connection(.outcomeUnknown, "The process ended before %@ replied", repeats),
    ]

    /// Returns the error and remedy of an HTTP status.
    private static func status(_ status: Int) -> (error: ErrorCode, remedy: String) {
        switch status {
        case 401: (.unauthenticated, "Correct the credentials of the provider; the answer does not change before.")
        case 403: (.forbidden, "Correct the rights of the credential or the provider settings.")
        case 408, 425: (.unavailable, repeats)
        case 429:
            (.throttled, "The engine repeats the request later. Set \"rate\" in the configuration to send less often.")
        case 300...399:
            (
                .unavailable,
                "Correct the URL in the provider settings, or sign in to the network that redirects requests."
            )
        case 400...499: (.misconfigured, "Check the provider settings and the vendor account; waiting does not help.")
        case 200...299: (.unavailable, "The engine repeats the request. If this lasts, read the vendor's answer.")
        default: (.unavailable, repeats)
        }
    }
}

extension WireRequest {
    /// The host of the request, for messages.
    var host: String { WebAddress(url)?.host ?? "the vendor host" }
}
