#if canImport(Darwin)
import Foundation
import PatchbayAdapterKit
import Testing

@testable import PatchbayHTTP

@Suite("Failure table of URLSession") struct FailureTableTests {
    @Test func `lists no code twice`() {
        #expect(Set(FailureTable.rows.map(\.code.rawValue)).count == FailureTable.rows.count)
    }

    @Test func `no URLSession failure counts as a wire fault`() {
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
