#if !canImport(Darwin)
import CCurl
import PatchbayAdapterKit

/// The transport failure for each error of libcurl (https://curl.se/libcurl/c/libcurl-errors.html).
enum CurlFailure {
    /// The transport's code for each libcurl result, in the order of a request's phases.
    static let codes: [(result: CURLcode, code: String)] = [
        (CURLE_URL_MALFORMAT, "badURL"),
        (CURLE_COULDNT_RESOLVE_PROXY, "proxyNotFound"),
        (CURLE_COULDNT_RESOLVE_HOST, "hostNotFound"),
        (CURLE_COULDNT_CONNECT, "cannotConnect"),
        (CURLE_SSL_CACERT_BADFILE, "certificateAuthoritiesMissing"),
        (CURLE_SSL_CONNECT_ERROR, "secureConnectionFailed"),
        (CURLE_SSL_CIPHER, "secureConnectionFailed"),
        (CURLE_SSL_CERTPROBLEM, "clientCertificateRefused"),
        (CURLE_SSL_ISSUER_ERROR, "certificateRefused"),
        (CURLE_OPERATION_TIMEDOUT, "timedOut"),
        (CURLE_SEND_ERROR, "connectionLost"),
        (CURLE_RECV_ERROR, "connectionLost"),
        (CURLE_GOT_NOTHING, "connectionLost"),
        (CURLE_PARTIAL_FILE, "connectionLost"),
        (CURLE_UNSUPPORTED_PROTOCOL, "badResponse"),
        (CURLE_WEIRD_SERVER_REPLY, "badResponse"),
        (CURLE_BAD_CONTENT_ENCODING, "badResponse"),
        (CURLE_WRITE_ERROR, "badResponse"),
    ]

    /// Returns the failure for a libcurl result; `text` is libcurl's own explanation.
    ///
    /// The delivery depends only on whether a byte of the request may have been sent, not on the result.
    static func failure(_ result: CURLcode, _ text: String, mayBeSent: Bool) -> TransportFailure {
        let isCertificate = result == CURLE_PEER_FAILED_VERIFICATION
        let code = isCertificate ? certificateCode(text) : codes.first { $0.result == result }?.code
        return TransportFailure(mayBeSent ? .lost : .notSent, code ?? "curl\(result.rawValue)")
    }

    /// Returns the reason for a rejected certificate, as far as libcurl's text states it.
    private static func certificateCode(_ text: String) -> String {
        let text = text.lowercased()
        if text.contains("self-signed") || text.contains("self signed") { return "certificateSelfSigned" }
        if text.contains("expired") || text.contains("not yet valid") { return "certificateExpired" }
        if text.contains("does not match") || text.contains("no alternative certificate subject name") {
            return "certificateOfAnotherHost"
        }
        return "certificateRefused"
    }
}
#endif
