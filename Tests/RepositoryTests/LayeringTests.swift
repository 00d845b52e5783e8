import Foundation
import Testing

@Suite("Layers") struct LayeringTests {
    private static let vendors = Repository.folders(in: "Adapters")
    /// The modules that each module may import besides the toolchain's libraries. Only lower layers are allowed.
    private static let allowed: [String: Set<String>] = [
        "PatchbaySystem": [],
        "PatchbayJSON": [],
        "PatchbayModel": ["PatchbayJSON"],
        "PatchbayAdapterKit": ["PatchbayJSON", "PatchbayModel"],
        "PatchbayRecords": ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"],
        "PatchbayOutbox": [
            "CBlocks", "CSQLite", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit",
        ],
        "Patchbay": ["PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayOutbox"],
        "PatchbayHTTP": ["CCurl", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "Patchbay"],
        "PatchbayMigration": [
            "CZlib", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords",
            "Patchbay",
        ],
        "PatchbaySimulation": ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayOutbox", "Patchbay"],
        "PatchbaySandbox": ["CMicroHTTPD", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"],
        "PatchbayTesting": [
            "Testing", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords", "Patchbay",
            "PatchbaySimulation",
        ],
        "PatchbayCommand": Set(
            [
                "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords",
                "PatchbayOutbox", "Patchbay", "PatchbayMigration", "PatchbaySimulation", "PatchbayHTTP",
                "PatchbaySandbox",
            ] + vendors.flatMap { vendor in ["", "Server", "Files", "Simulator"].map { "Patchbay\(vendor)\($0)" } }
        ),
        "PatchbayMain": ["PatchbayCommand"],
    ]
    private static let adapterMay: Set<String> = ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"]
    /// Libraries of the toolchain, which belong to no layer.
    private static let toolchain: Set<String> = [
        "Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Glibc", "Musl", "Darwin", "Security",
    ]

    private func imports(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard let place = words.firstIndex(of: "import"), place < 3, !line.hasPrefix("//"), words.count > place + 1,
                words[..<place].allSatisfy({
                    $0 == "public" || $0 == "package" || $0 == "internal" || $0.hasPrefix("@")
                })
            else { return nil }
            let kinds: Set<String> = ["struct", "class", "enum", "protocol", "func", "typealias", "var", "let"]
            let name = kinds.contains(words[place + 1]) && words.count > place + 2 ? words[place + 2] : words[place + 1]
            return name.split(separator: ".").first.map(String.init)
        }
    }

    @Test func `every module imports only lower layers`() throws {
        for (module, allowed) in Self.allowed {
            for file in Repository.files("Sources/\(module)") {
                let unknowns = Set(imports(file.text)).subtracting(allowed).subtracting(Self.toolchain)
                    .subtracting(["FoundationXML"])
                #expect(unknowns.isEmpty, "\(file.path) imports \(unknowns.sorted()).")
            }
        }
    }

    @Test func `an adapter imports the contract and its own parts, and only its file code imports records`() {
        for file in Repository.files("Adapters") where !file.path.contains("/Tests/") {
            let path = file.path.split(separator: "/").map(String.init)
            let own = ["", "Server"].map { "Patchbay\(path[1])\($0)" }
            let allowed: [String]? =
                switch path[2] {
                case "Device", "Simulator": []
                case "Server": [own[0]]
                case "Files": own + ["PatchbayRecords"]
                default: nil
                }
            guard let allowed else {
                Issue.record("\(file.path) is in no part of its vendor.")
                continue
            }
            let unknowns = Set(imports(file.text)).subtracting(Self.adapterMay).subtracting(Self.toolchain)
                .subtracting(allowed)
            let xml: Set<String> =
                file.path.contains("/Simulator/") || file.path.contains("Repl") ? ["FoundationXML"] : []
            #expect(unknowns.subtracting(xml).isEmpty, "\(file.path) imports \(unknowns.sorted()).")
        }
    }

    @Test(arguments: [
        (library: "CSQLite", module: "PatchbayOutbox"), ("CMicroHTTPD", "PatchbaySandbox"),
        ("CZlib", "PatchbayMigration"),
        ("CCurl", "PatchbayHTTP"),
    ])
    func `a system library is imported by one module`(_ row: (library: String, module: String)) {
        for file in Repository.files("Sources", "Adapters") where imports(file.text).contains(row.library) {
            #expect(file.path.hasPrefix("Sources/\(row.module)/"), "\(file.path) imports \(row.library).")
        }
    }

    @Test func `the table of allowed imports lists every module`() {
        let shims: Set<String> = ["CBlocks", "CCurl", "CSQLite", "CMicroHTTPD", "CZlib"]
        let modules = Set(Repository.folders(in: "Sources")).subtracting(shims)
        #expect(modules == Set(Self.allowed.keys))
    }

    @Test func `the package lists every vendor folder`() throws {
        let package = try Repository.text("Package.swift")
        for vendor in Self.vendors {
            let parts = Repository.folders(in: "Adapters/\(vendor)")
            let listed = ["Device", "Server", "Files"].filter(parts.contains).map { "\"\($0)\"" }
            let row = "\n    \"\(vendor)\": [\(listed.joined(separator: ", "))],\n"
            #expect(package.contains(row), "Package.swift has no row \(row)")
        }
    }
}
