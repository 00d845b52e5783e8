import Foundation
import Testing

@testable import PatchbayMigration

@Suite("Processors") struct ProcessorsTests {
    @Test func `uses at least one processor and at most the number available`() {
        #expect((1...ProcessInfo.processInfo.processorCount).contains(Processors.usable))
    }

    @Test func `reads the processors that a process may use from the system status`() {
        let status = "Name:\tpatchbay\nCpus_allowed:\t00000001,8000000f\nCpus_allowed_list:\t0-3,31-32\n"
        #expect(Processors.allowed(by: status) == 6)
        #expect(Processors.allowed(by: "Name:\tpatchbay\n") == nil)
        #expect(Processors.allowed(by: "Cpus_allowed:\t0\n") == nil)
    }
}
