#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit

/// What each failure of `URLSession` says about the request: was it surely not sent, or perhaps processed?
///
/// Only what fails before the first byte of the request can leave is `notSent`. Everything else, and every code that
/// the table does not know, is `lost`. So is every complaint of the system about an address: ours was checked before, and
/// a server whose answer is no HTTP brings some of them about.
enum FailureTable {
    /// One row: the system's code, what it says, and the transport's word for it.
    struct Row: Sendable {
        let code: URLError.Code
        let failure: TransportFailure

        init(_ code: URLError.Code, _ delivery: TransportFailure.Delivery, _ word: String) {
            self.code = code
            failure = TransportFailure(delivery, word)
        }
    }

    /// The table, in the order of a request's life.
    static let rows: [Row] = [
        Row(.notConnectedToInternet, .notSent, "offline"),
        Row(.internationalRoamingOff, .notSent, "offline"),
        Row(.callIsActive, .notSent, "offline"),
        Row(.dataNotAllowed, .notSent, "offline"),
        Row(.cannotFindHost, .notSent, "hostNotFound"),
        Row(.dnsLookupFailed, .notSent, "hostNotFound"),
        Row(.cannotConnectToHost, .notSent, "cannotConnect"),
        Row(.secureConnectionFailed, .notSent, "secureConnectionFailed"),
        Row(.serverCertificateHasBadDate, .notSent, "certificateExpired"),
        Row(.serverCertificateUntrusted, .notSent, "certificateRefused"),
        Row(.serverCertificateHasUnknownRoot, .notSent, "certificateRefused"),
        Row(.serverCertificateNotYetValid, .notSent, "certificateExpired"),
        Row(.clientCertificateRejected, .notSent, "clientCertificateRefused"),
        Row(.clientCertificateRequired, .notSent, "clientCertificateRefused"),
        Row(.timedOut, .lost, "timedOut"),
        Row(.cancelled, .lost, "cancelled"),
        Row(.networkConnectionLost, .lost, "connectionLost"),
        Row(.badServerResponse, .lost, "badResponse"),
        Row(.cannotParseResponse, .lost, "badResponse"),
        Row(.zeroByteResource, .lost, "badResponse"),
        Row(.cannotDecodeRawData, .lost, "badResponse"),
        Row(.cannotDecodeContentData, .lost, "badResponse"),
        Row(.badURL, .lost, "badResponse"),
        Row(.unsupportedURL, .lost, "badResponse"),
        Row(.appTransportSecurityRequiresSecureConnection, .lost, "insecureConnection"),
        Row(.dataLengthExceedsMaximum, .lost, "replyTooLong"),
        Row(.httpTooManyRedirects, .lost, "badResponse"),
        Row(.redirectToNonExistentLocation, .lost, "badResponse"),
        Row(.userCancelledAuthentication, .lost, "badResponse"),
        Row(.userAuthenticationRequired, .lost, "badResponse"),
        Row(.resourceUnavailable, .lost, "unknown"),
        Row(.unknown, .lost, "unknown"),
    ]

    /// The failure that a code stands for.
    static func failure(for code: URLError.Code) -> TransportFailure { failure(forNumber: code.rawValue) }

    /// The failure that an error of the system stands for.
    static func failure(for error: any Error) -> TransportFailure {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else { return failure(for: .unknown) }
        return failure(forNumber: error.code)
    }

    private static func failure(forNumber number: Int) -> TransportFailure {
        rows.first { $0.code.rawValue == number }?.failure ?? TransportFailure(.lost, "urlError\(number)")
    }
}
#endif
