import PatchbayModel
import Testing

@Suite("Secrets") struct SecretTests {
    struct Holder: Sendable {
        var name = "holder"
        var secret: Secret?
        var list: [Secret] = []
        var table: [String: Secret] = [:]
    }

    struct Failed: Error { let secret: Secret }

    private static let canary = "canary-4d1f77c0"
    private static let secret = Secret(canary)
    private static let holder = Holder(secret: secret, list: [secret], table: ["key": secret])

    private static func dumped(_ value: some Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test(arguments: [
        "\(secret)", String(describing: secret), String(reflecting: secret), secret.debugDescription, dumped(secret),
        "\(holder)", String(reflecting: holder), dumped(holder), "\([secret])", "\(["a": secret])",
        "\(Optional(secret) as Any)",
        "\(Failed(secret: secret))", String(reflecting: Failed(secret: secret)), dumped(Failed(secret: secret)),
        "\(Mirror(reflecting: secret).children.map(\.value))",
        "\(Mirror(reflecting: holder).children.map(\.value))",
        "\(secret as Any)", "\(type(of: secret)) \(secret.hashValue)",
    ])
    func `no description of a secret contains its value`(_ text: String) {
        #expect(!text.contains(Self.canary))
        #expect(!text.isEmpty)
    }

    @Test func `the value property returns the secret`() { #expect(Self.secret.value == Self.canary) }
}
