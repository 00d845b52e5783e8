import Testing

@Suite("Language") struct LanguageTests {
    @Test func `no folder has more retired words than its baseline, and the entry pages have none`() throws {
        let check = try Repository.run("python3", ".ci/language.py")
        #expect(check.status == 0, "\(check.text)")
    }
}
