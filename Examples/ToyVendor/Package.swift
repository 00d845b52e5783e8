// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ToyVendor",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "ToyVendor", targets: ["ToyVendor"])],
    dependencies: [.package(name: "Patchbay", path: "../..")],
    targets: [
        .target(name: "ToyVendor", dependencies: [.product(name: "PatchbayAdapterKit", package: "Patchbay")]),
        .target(name: "ToyVendorSimulator", dependencies: [.product(name: "PatchbayAdapterKit", package: "Patchbay")]),
        .testTarget(
            name: "ToyVendorTests",
            dependencies: [
                "ToyVendor", "ToyVendorSimulator",
                .product(name: "PatchbayAdapterKit", package: "Patchbay"),
                .product(name: "PatchbayTesting", package: "Patchbay"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
