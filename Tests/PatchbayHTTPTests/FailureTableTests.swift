#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit
import Testing

@testable import PatchbayHTTP

@Suite("What a URLSession failure says") struct FailureTableTests {
    struct Case: CustomTestStringConvertible {
        let number: Int
        let doubt: TransportFailure.Doubt
        let word: String
        var testDescription: String { "\(number) \(word)" }
    }

    /// The system's numbers, written out apart from the table.
    static let cases = [
        Case(number: -1000, doubt: .lost, word: "badResponse"),
        Case(number: -1002, doubt: .lost, word: "badResponse"),
        Case(number: -1022, doubt: .lost, word: "insecureConnection"),
        Case(number: -1009, doubt: .notSent, word: "offline"),
        Case(number: -1018, doubt: .notSent, word: "offline"),
        Case(number: -1019, doubt: .notSent, word: "offline"),
        Case(number: -1020, doubt: .notSent, word: "offline"),
        Case(number: -1003, doubt: .notSent, word: "hostNotFound"),
        Case(number: -1006, doubt: .notSent, word: "hostNotFound"),
        Case(number: -1004, doubt: .notSent, word: "cannotConnect"),
        Case(number: -1200, doubt: .notSent, word: "secureConnectionFailed"),
        Case(number: -1201, doubt: .notSent, word: "certificateExpired"),
        Case(number: -1202, doubt: .notSent, word: "certificateRefused"),
        Case(number: -1203, doubt: .notSent, word: "certificateRefused"),
        Case(number: -1204, doubt: .notSent, word: "certificateExpired"),
        Case(number: -1205, doubt: .notSent, word: "clientCertificateRefused"),
        Case(number: -1206, doubt: .notSent, word: "clientCertificateRefused"),
        Case(number: -1001, doubt: .lost, word: "timedOut"),
        Case(number: -999, doubt: .lost, word: "cancelled"),
        Case(number: -1005, doubt: .lost, word: "connectionLost"),
        Case(number: -1011, doubt: .lost, word: "badResponse"),
        Case(number: -1017, doubt: .lost, word: "badResponse"),
        Case(number: -1014, doubt: .lost, word: "badResponse"),
        Case(number: -1015, doubt: .lost, word: "badResponse"),
        Case(number: -1016, doubt: .lost, word: "badResponse"),
        Case(number: -1103, doubt: .lost, word: "replyTooLong"),
        Case(number: -1007, doubt: .lost, word: "badResponse"),
        Case(number: -1010, doubt: .lost, word: "badResponse"),
        Case(number: -1012, doubt: .lost, word: "badResponse"),
        Case(number: -1013, doubt: .lost, word: "badResponse"),
        Case(number: -1008, doubt: .lost, word: "unknown"),
        Case(number: -1, doubt: .lost, word: "unknown"),
    ]

    @Test(arguments: cases) func `a code has its doubt and its word`(_ row: Case) {
        let message = [NSLocalizedDescriptionKey: "Failed to connect to vendor.example port 443"]
        let failure = FailureTable.failure(
            for: NSError(domain: NSURLErrorDomain, code: row.number, userInfo: message)
        )
        #expect(failure == TransportFailure(row.doubt, row.word))
    }

    @Test func `every row of the table is tested, and no code stands twice`() {
        #expect(FailureTable.rows.map(\.code.rawValue).sorted() == Self.cases.map(\.number).sorted())
    }

    @Test func `no failure of the system says that we kept the request back`() {
        #expect(FailureTable.rows.allSatisfy { $0.failure.fault == nil })
        #expect(FailureTable.rows.allSatisfy { WireFault(rawValue: $0.failure.code) == nil })
    }

    @Test func `an unknown code counts as lost`() {
        let unknown = NSError(domain: NSURLErrorDomain, code: -4711)
        #expect(FailureTable.failure(for: unknown) == TransportFailure(.lost, "urlError-4711"))
        let foreign = NSError(domain: NSPOSIXErrorDomain, code: -1004)
        #expect(FailureTable.failure(for: foreign) == TransportFailure(.lost, "unknown"))
    }
}
#endif
