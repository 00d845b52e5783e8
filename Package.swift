// swift-tools-version: 6.2
import PackageDescription

/// A vendor: folders in `Adapters/<Vendor>`, and a target for each. A sixth vendor is a folder and a line here.
///
/// `Device` is the adapter for apps, `Patchbay<Vendor>`. `Server` and `Files` may import the parts before them.
let vendors: KeyValuePairs = [
    "Acoustic": ["Device", "Server", "Files"],
    "Adobe": ["Device", "Server", "Files"],
    "Altcraft": ["Device", "Server", "Files"],
    "DES": ["Device", "Files"],
    "Salesforce": ["Device", "Server", "Files"],
]

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    .treatWarning("ExplicitSendable", as: .error),
]

/// Test code gains little from the optimizer, which takes most of the time of a release build. Packages that depend on this
/// one do not build its tests, so they do not meet the flag.
let testSettings = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

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
    .testTarget(name: name, dependencies: dependencies, swiftSettings: testSettings)
}

/// The target of a vendor's part.
func name(_ vendor: String, _ part: String) -> String { "Patchbay\(vendor)\(part == "Device" ? "" : part)" }

let vendorModules = vendors.flatMap { vendor, parts in parts.map { Target.Dependency(stringLiteral: name(vendor, $0)) }
}
let vendorSimulators = vendors.map { Target.Dependency(stringLiteral: name($0.key, "Simulator")) }

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

let adapters: [Target] = vendors.flatMap { vendor, parts -> [Target] in
    let contract: [Target.Dependency] = ["PatchbayJSON", "PatchbayModel", "PatchbayAdapterKit"]
    let modules = parts.map { Target.Dependency(stringLiteral: name(vendor, $0)) }
    let simulator = name(vendor, "Simulator")
    return parts.enumerated().map { place, part in
        .target(
            name: name(vendor, part),
            dependencies: contract + (part == "Files" ? ["PatchbayRecords"] : []) + modules[..<place],
            path: "Adapters/\(vendor)/\(part)",
            swiftSettings: strict
        )
    } + [
        .target(
            name: simulator,
            dependencies: contract,
            path: "Adapters/\(vendor)/Simulator",
            swiftSettings: strict
        ),
        .testTarget(
            name: "Patchbay\(vendor)Tests",
            dependencies: contract + ["PatchbayRecords", "Patchbay", "PatchbayTesting", "PatchbaySimulation"] + modules
                + [.init(stringLiteral: simulator)],
            path: "Adapters/\(vendor)/Tests",
            swiftSettings: testSettings
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
        swiftSettings: testSettings
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
        + vendors.flatMap { vendor, parts in
            (parts + ["Simulator"]).map { part in
                .library(name: name(vendor, part), targets: [name(vendor, part)])
            }
        },
    targets: house + adapters + houseTests,
    swiftLanguageModes: [.v6]
)
