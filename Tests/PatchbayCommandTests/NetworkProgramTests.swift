import Foundation
import Testing

/// `patchbay` links no network and becomes `patchbay-network` where it needs one.
@Suite("patchbay and patchbay-network") struct NetworkProgramTests {
    private let bench: Workbench
    /// `patchbay` in a folder of its own, with nothing beside it but what a test puts there.
    private let lonely: URL
    private let network: URL

    init() throws {
        bench = try Workbench()
        let folder = URL(filePath: bench.path("installed"))
        (lonely, network) = (folder.appending(path: "patchbay"), folder.appending(path: "patchbay-network"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            try FileManager.default.linkItem(at: Workbench.command, to: lonely)
        } catch {
            // Another volume.
            try FileManager.default.copyItem(at: Workbench.command, to: lonely)
        }
    }

    private func write(_ script: String, mode: Int) throws {
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: network)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: network.path)
    }

    /// The libraries that a program loads, and those that they load.
    private func libraries(of program: URL) async throws -> String {
        #if canImport(Darwin)
        try await bench.shell("otool -L \"$PATCHBAY\"", command: program).output
        #else
        try await bench.shell("ldd \"$PATCHBAY\"", command: program).output
        #endif
    }

    @Test func `patchbay loads no library that speaks HTTP, and patchbay-network does`() async throws {
        #if canImport(Darwin)
        let speakers = ["libmicrohttpd"]
        #else
        let speakers = ["libmicrohttpd", "libcurl"]
        #endif
        let (ours, others) = (
            try await libraries(of: Workbench.command),
            try await libraries(of: Workbench.command.deletingLastPathComponent().appending(path: "patchbay-network"))
        )
        #expect(ours.contains("libsqlite3"))
        for speaker in speakers {
            #expect(!ours.contains(speaker))
            #expect(others.contains(speaker))
        }
    }

    /// Lines that use the network. All name files that are not there: who goes on says so.
    static let networked = [
        "send --config nothing.json", "erase --config nothing.json --subject s", "sandbox --faults nothing.json",
        "migrate apply --from neutral.contacts --to altcraft-server --config nothing.json --in a --out b",
        "migrate verify --from neutral.contacts --to altcraft-server --config nothing.json --in a",
        "migrate undo journal.json --config nothing.json",
    ]

    /// The journal of a migration through a door, which `migrate undo` looks into.
    private static let journal = #"{"journal":"server","version":1,"adapter":"altcraft-server","provider":"crm"}"#

    @Test(arguments: networked) func `without patchbay-network a command says where it looked, and reads nothing`(
        _ line: String
    ) async throws {
        try bench.write("journal.json", Self.journal + "\n")
        let before = bench.files
        let result = try await bench.shell(
            "printf 'all\\n' | { \"$PATCHBAY\" \(line); echo $?; cat; }",
            command: lonely
        )
        #expect(result.output == "2\nall\n")
        #expect(result.talk.contains("installed/patchbay-network: No such file or directory."))
        #expect(result.talk.contains("swift build --product patchbay-network"))
        #expect(bench.files == before)
    }

    @Test(
        arguments: networked.map { ($0 + " --help", Int32(0)) } + [
            ("send", 64), ("--version", 0), ("adapters", 0), ("migrate undo nothing.json", 2),
            ("migrate apply --from neutral.contacts --to altcraft-server --dry-run", 64),
            ("migrate plan --from neutral.contacts --to altcraft-server", 64),
            ("migrate verify --from neutral.contacts --to neutral.contacts --in a", 64),
        ]
    ) func `what needs no network needs no patchbay-network`(_ line: String, status: Int32) async throws {
        let result = try await bench.shell("\"$PATCHBAY\" \(line)", command: lonely)
        #expect(result.status == status)
        #expect(!result.talk.contains("patchbay-network"))
    }

    @Test func `patchbay-network has the process, its arguments, environment, folder and input`() async throws {
        try write(#"echo $$; echo "$0"; pwd; echo "$MARK"; printf '<%s>' "$@"; cat; exit 37"#, mode: 0o755)
        let result = try await bench.shell(
            """
            cd /; export MARK=kept
            printf ' all' | sh -c 'echo $$; exec "$PATCHBAY" send --config "two words" -'; echo " $?"
            """,
            command: lonely
        )
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 6)
        #expect(lines[0] == lines[1])
        #expect(lines[2].hasSuffix("installed/patchbay-network"))
        #expect(lines[3...] == ["/", "kept", "<send><--config><two words><-> all 37"])
    }

    @Test func `a link to patchbay finds what lies beside the file itself`() async throws {
        try write("echo found", mode: 0o755)
        let link = URL(filePath: bench.path("link"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: lonely)
        #expect(try await bench.shell("\"$PATCHBAY\" sandbox --faults nothing.json", command: link).output == "found\n")
    }

    @Test func `what can't be started is told`() async throws {
        try write("echo found", mode: 0o644)
        let result = try await bench.shell("\"$PATCHBAY\" sandbox --faults nothing.json", command: lonely)
        #expect(result.status == 2)
        #expect(result.talk.contains("installed/patchbay-network: Permission denied."))
    }

    @Test(arguments: [true, false]) func `patchbay under the other name does not start itself for ever`(
        _ isLink: Bool
    ) async throws {
        if isLink {
            try FileManager.default.createSymbolicLink(at: network, withDestinationURL: lonely)
        } else {
            try FileManager.default.copyItem(at: lonely, to: network)
        }
        let result = try await bench.shell("\"$PATCHBAY\" sandbox --faults nothing.json", command: lonely)
        #expect(result.status == 2)
        #expect(result.talk.contains("installed/patchbay-network is patchbay under another name."))
    }
}
