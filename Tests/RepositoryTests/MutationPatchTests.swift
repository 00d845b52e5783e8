import Testing

/// The mutations of the engine and the outbox, which `make mutants` applies to a copy of the sources.
@Suite("Mutation patches") struct MutationPatchTests {
    @Test func `each patch applies and names its seed and the expected message`() throws {
        let patches = Repository.files("Tests/Mutations", suffix: ".patch")
        #expect(patches.count > 30)
        for patch in patches {
            let head = patch.text.split(separator: "\n--- ")[0] + "\n"
            #expect(head.contains(/\nSeed: [0-9]+\n/) && head.contains(/\nFinds: .+\n/), "\(patch.path)")
            let check = try Repository.run("git", "apply", "--check", patch.path)
            #expect(check.status == 0, "\(patch.path) does not apply to the sources any more. Correct it.")
        }
    }
}
