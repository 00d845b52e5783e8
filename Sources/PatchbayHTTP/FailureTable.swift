#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit

/// The transport failure for each error of `URLSession`: certainly not sent, or possibly processed.
///
/// Only an error that occurs before the first byte can be sent is `notSent`. Every other error, including unknown codes, is
/// `lost`. This includes errors about an address, because the request's address was validated before, and a server whose reply
/// is not HTTP can cause some of these errors.
enum FailureTable {
    /// A row: the system's code, the delivery, and the transport's code.
    struct Row: Sendable {
        let code: URLError.Code
        let failure: TransportFailure

        init(_ code: URLError.Code, _ delivery: TransportFailure.Delivery, _ word: String) {
            self.code = code
            failure = TransportFailure(delivery, word)
        }
    }

    /// The table, in the order of a request's phases.
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

    /// Returns the failure for an error code.
    static func failure(for code: URLError.Code) -> TransportFailure { failure(forNumber: code.rawValue) }

    /// Returns the failure for an error of the system.
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
