#if !canImport(Darwin)
import CCurl
import PatchbayAdapterKit

/// What each failure of libcurl says about a request (https://curl.se/libcurl/c/libcurl-errors.html).
enum CurlFailure {
    /// The transport's code for each result, in the order of a request's life.
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

    /// The failure that a result of libcurl stands for; `text` is its own explanation.
    ///
    /// Whether a byte of the request has left decides whether the vendor may have processed it, whatever the result is.
    static func failure(_ result: CURLcode, _ text: String, mayBeSent: Bool) -> TransportFailure {
        let isCertificate = result == CURLE_PEER_FAILED_VERIFICATION
        let code = isCertificate ? certificateCode(text) : codes.first { $0.result == result }?.code
        return TransportFailure(mayBeSent ? .lost : .notSent, code ?? "curl\(result.rawValue)")
    }

    /// Why a certificate was refused, as far as the words tell.
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
