import Foundation
import PatchbayAcousticServer
import PatchbayAdapterKit
import PatchbayAdobeServer
import PatchbayAltcraftServer
import PatchbaySalesforceServer
import Testing

@Suite("Tables of server APIs") struct ServerTableTests {
    /// Writes the tables as JSON and reads them back.
    private func expectPlain<API: ServerAPI>(_ api: API.Type) throws {
        let json = try JSONEncoder().encode(API.conventions)
        let read = try JSONDecoder().decode(ServerConventions<API.Endpoint>.self, from: json)
        #expect(read == API.conventions)
        #expect(read.replies.rows.count > 5)
    }

    @Test func `the conventions of each server API survive a JSON round trip`() throws {
        try expectPlain(AcousticServer.self)
        try expectPlain(AdobeServer.self)
        try expectPlain(AltcraftServer.self)
        try expectPlain(SalesforceServer.self)
    }
}
