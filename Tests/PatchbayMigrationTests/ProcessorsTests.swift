import Foundation
import PatchbayMigration
import Testing

@Suite("Processors") struct ProcessorsTests {
    @Test func `no more are used than there are, and one at least`() {
        #expect((1...ProcessInfo.processInfo.processorCount).contains(Processors.usable))
    }
}
