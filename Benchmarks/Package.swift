// swift-tools-version: 6.2
import PackageDescription

/// One entry a vendor, as in the package itself; `Vendors.swift` says what each is asked to deliver.
let vendors = ["Acoustic", "Adobe", "Altcraft", "DES", "Salesforce"]
/// The vendors whose contact files are migrated.
let files = ["Adobe", "Altcraft", "DES", "Salesforce"]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Patchbay", path: "..")],
    targets: [
        .systemLibrary(
            name: "SQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "SQLite",
                .product(name: "Patchbay", package: "Patchbay"),
                .product(name: "PatchbayAdapterKit", package: "Patchbay"),
                .product(name: "PatchbayMigration", package: "Patchbay"),
                .product(name: "PatchbayRecords", package: "Patchbay"),
            ]
                + [.product(name: "PatchbayAltcraftServer", package: "Patchbay")]
                + files.map { .product(name: "Patchbay\($0)Files", package: "Patchbay") }
                + vendors.flatMap { vendor -> [Target.Dependency] in
                    [
                        .product(name: "Patchbay\(vendor)", package: "Patchbay"),
                        .product(name: "Patchbay\(vendor)Simulator", package: "Patchbay"),
                    ]
                }
        ),
    ],
    swiftLanguageModes: [.v6]
)
