// swift-tools-version: 6.2
import PackageDescription

/// One entry makes an adapter's product, its simulator's product, their targets and their test target.
/// A sixth vendor is a folder `Adapters/<Vendor>` and a line here.
let vendors = ["Acoustic", "Adobe", "Altcraft", "DES", "Salesforce"]

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    .treatWarning("ExplicitSendable", as: .error),
]

/// A library target of the house, under `Sources/<name>`.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program of the house, under `Sources/<name>`.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A test target of the house, under `Tests/<name>`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let vendorModules = vendors.map { Target.Dependency(stringLiteral: "Patchbay\($0)") }
let vendorSimulators = vendors.map { Target.Dependency(stringLiteral: "Patchbay\($0)Simulator") }

// Values at the bottom, one engine in the middle, edges thin: arrows point up the page only.
let house: [Target] = [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
    .systemLibrary(
        name: "CMicroHTTPD",
        pkgConfig: "libmicrohttpd",
        providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]
    ),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    // Linux only: Apple platforms have URLSession.
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CBlocks"),
    module("PatchbaySystem", []),
    module("PatchbayJSON", []),
    module("PatchbayModel", ["PatchbayJSON"]),
    module("PatchbayAdapterKit", ["PatchbayJSON", "PatchbayModel"]),
    module("PatchbayRecords", ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"]),
    module(
        "PatchbayOutbox",
        ["CBlocks", "CSQLite", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"]
    ),
    module(
        "Patchbay",
        ["PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayOutbox"]
    ),
    module(
        "PatchbayHTTP",
        [.target(name: "CCurl", condition: .when(platforms: [.linux])), "PatchbayAdapterKit", "Patchbay"]
    ),
    module(
        "PatchbayMigration",
        [
            "CZlib", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords",
            "Patchbay",
        ]
    ),
    module(
        "PatchbaySimulation",
        ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayOutbox", "Patchbay"]
    ),
    module(
        "PatchbaySandbox",
        ["CMicroHTTPD", "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"]
    ),
    module(
        "PatchbayTesting",
        ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords", "Patchbay", "PatchbaySimulation"]
    ),
    module(
        "PatchbayCommand",
        [
            "PatchbaySystem", "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords",
            "PatchbayOutbox",
            "Patchbay", "PatchbayMigration", "PatchbaySimulation", "PatchbayHTTP", "PatchbaySandbox",
        ] + vendorModules + vendorSimulators
    ),
    program("PatchbayMain", ["PatchbayCommand"]),
]

let adapters: [Target] = vendors.flatMap { vendor -> [Target] in
    [
        .target(
            name: "Patchbay\(vendor)",
            dependencies: ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords"],
            path: "Adapters/\(vendor)/Sources",
            swiftSettings: strict
        ),
        .target(
            name: "Patchbay\(vendor)Simulator",
            dependencies: ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"],
            path: "Adapters/\(vendor)/Simulator",
            swiftSettings: strict
        ),
        .testTarget(
            name: "Patchbay\(vendor)Tests",
            dependencies: [
                "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords", "Patchbay", "PatchbayTesting",
                "PatchbaySimulation",
                .init(stringLiteral: "Patchbay\(vendor)"), .init(stringLiteral: "Patchbay\(vendor)Simulator"),
            ],
            path: "Adapters/\(vendor)/Tests",
            swiftSettings: strict
        ),
    ]
}

let houseTests: [Target] = [
    tests("PatchbayJSONTests", ["PatchbayJSON"]),
    tests("PatchbayModelTests", ["PatchbayJSON", "PatchbayModel"]),
    tests("PatchbayAdapterKitTests", ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayTesting"]),
    tests("PatchbayRecordsTests", ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords"]),
    tests("PatchbayOutboxTests", ["PatchbaySystem", "PatchbayOutbox"]),
    // What bytes of others come in through: a test replays what was found, and `make fuzz` finds more.
    .target(
        name: "PatchbayFuzzing",
        dependencies: [
            "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords", "PatchbayOutbox", "Patchbay",
            "PatchbayMigration", "PatchbaySimulation",
        ] + vendorModules + vendorSimulators,
        path: "Tests/Fuzzing",
        exclude: ["Corpus"],
        swiftSettings: strict
    ),
    tests(
        "PatchbayTests",
        ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayOutbox", "Patchbay", "PatchbaySimulation"]
            + ["PatchbayTesting", "PatchbayFuzzing"] + vendorModules + vendorSimulators
    ),
    .testTarget(
        name: "PatchbayHTTPTests",
        dependencies: [
            "PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "Patchbay", "PatchbayHTTP", "PatchbaySandbox",
        ],
        exclude: ["tls_server.py"],
        swiftSettings: strict
    ),
    tests(
        "PatchbayMigrationTests",
        ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbayRecords", "Patchbay", "PatchbayMigration"]
            + ["PatchbaySimulation", "PatchbayTesting"] + vendorModules + vendorSimulators
    ),
    tests(
        "PatchbaySandboxTests",
        ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit", "PatchbaySandbox"] + vendorSimulators
    ),
    tests("PatchbayCommandTests", ["PatchbayJSON", "PatchbayMain"]),
    tests("RepositoryTests", ["PatchbayJSON"]),
]

let package = Package(
    name: "Patchbay",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Patchbay", targets: ["Patchbay", "PatchbayHTTP", "PatchbayModel"]),
        .library(name: "PatchbayAdapterKit", targets: ["PatchbayAdapterKit", "PatchbayModel", "PatchbayJSON"]),
        .library(name: "PatchbayRecords", targets: ["PatchbayRecords"]),
        .library(name: "PatchbayMigration", targets: ["PatchbayMigration"]),
        .library(name: "PatchbayTesting", targets: ["PatchbayTesting", "PatchbaySimulation"]),
        .executable(name: "patchbay", targets: ["PatchbayMain"]),
    ]
        + vendors.flatMap { vendor -> [Product] in
            [
                .library(name: "Patchbay\(vendor)", targets: ["Patchbay\(vendor)"]),
                .library(name: "Patchbay\(vendor)Simulator", targets: ["Patchbay\(vendor)Simulator"]),
            ]
        },
    targets: house + adapters + houseTests,
    swiftLanguageModes: [.v6]
)
