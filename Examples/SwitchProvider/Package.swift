// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SwitchProvider",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Patchbay", path: "../..")],
    targets: [
        .executableTarget(
            name: "SwitchProvider",
            dependencies: [
                .product(name: "Patchbay", package: "Patchbay"),
                .product(name: "PatchbayAltcraft", package: "Patchbay"),
                .product(name: "PatchbaySalesforce", package: "Patchbay"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
