import PatchbayJSON
import Testing

/// The list contains the whole public list: 95 texts to accept, 188 to reject, 35 optional ones.
@Suite("The public JSON test list")
struct JSONTestSuiteTests {
    @Test func `contains all cases of the public list`() {
        #expect(JSONTestSuiteRow.mustAccept.count == 95)
        #expect(JSONTestSuiteRow.mustReject.count == 188)
        #expect(JSONTestSuiteRow.eitherWay.count == 35)
        #expect(JSONTestSuiteRow.mustReject.allSatisfy { $0.error != nil })
    }

    @Test(arguments: JSONTestSuiteRow.mustAccept)
    func `accepts every text that readers must accept`(row: JSONTestSuiteRow) throws {
        let value = try JSONValue(parsing: row.bytes, duplicateNames: .keepLast)
        #expect(try JSONValue(parsing: value.text) == value)
        #expect(try JSONValue(parsing: value.prettyText) == value)
    }

    /// RFC 8259 lets the reader decide about duplicate names in an object. This reader refuses them by default.
    @Test(arguments: JSONTestSuiteRow.mustAccept)
    func `the strict default refuses only duplicate names`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
        #expect(row.error == nil || row.error == .duplicateName)
    }

    @Test(arguments: JSONTestSuiteRow.mustReject)
    func `rejects every text that readers must reject, with its reason`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
    }

    @Test(arguments: JSONTestSuiteRow.eitherWay)
    func `decides optional cases as listed`(row: JSONTestSuiteRow) {
        #expect(error(row.bytes)?.code == row.error)
    }

    /// The reader copies a collection without contiguous storage and returns the same result.
    @Test(arguments: JSONTestSuiteRow.mustReject)
    func `the result does not depend on how the bytes are stored`(row: JSONTestSuiteRow) {
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
