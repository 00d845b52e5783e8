import PatchbayJSON
import Testing

/// The list covers the public one completely: 95 texts to accept, 188 to reject, 35 left to the reader.
@Suite("The public JSON test list")
struct JSONTestSuiteTests {
    @Test func `the list is complete`() {
        #expect(JSONTestSuiteRow.mustAccept.count == 95)
        #expect(JSONTestSuiteRow.mustReject.count == 188)
        #expect(JSONTestSuiteRow.eitherWay.count == 35)
        #expect(JSONTestSuiteRow.mustReject.allSatisfy { $0.error != nil })
    }

    @Test(arguments: JSONTestSuiteRow.mustAccept)
    func `what every reader must accept is accepted`(row: JSONTestSuiteRow) throws {
        let value = try JSONValue(parsing: row.bytes, duplicateNames: .keepLast)
        #expect(try JSONValue(parsing: value.text) == value)
        #expect(try JSONValue(parsing: value.prettyText) == value)
    }

    /// RFC 8259 leaves two equal names in one object to the reader; we refuse them unless told otherwise.
    @Test(arguments: JSONTestSuiteRow.mustAccept)
    func `the strict default refuses only duplicate names among them`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
        #expect(row.error == nil || row.error == .duplicateName)
    }

    @Test(arguments: JSONTestSuiteRow.mustReject)
    func `what every reader must reject is rejected with its reason`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
    }

    @Test(arguments: JSONTestSuiteRow.eitherWay)
    func `what is left to the reader is decided as stated`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
    }

    /// A reader that is handed a collection without contiguous storage copies it and answers the same.
    @Test(arguments: JSONTestSuiteRow.mustReject)
    func `the answer does not depend on how the bytes are stored`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes.lazy.map { $0 }) == error(row.bytes))
    }

    private func error(_ bytes: some Collection<UInt8>) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }
}
