import PatchbayAdapterKit
import PatchbayModel

/// The vendor's identity of an installation (ECID): 38 decimal digits, an opaque text.
enum Identity {
    /// The name under which an app passes the identity of the vendor's own SDK.
    static let name: Device.IdentityName = "adobe.ecid"

    /// Returns the identity that the adapter generates for an installation, the same on every machine for the same number.
    static func made(for subject: Subject, _ generation: Int) -> String {
        let name = String(joining: "adobe.ecid:", subject.rawValue, "#", generation.description)
        let digest = SHA256.digest(of: name.utf8)
        return String(unsafeUninitializedCapacity: 38) { room in
            put(number(digest, from: 0), in: room, before: 19)
            put(number(digest, from: 8), in: room, before: 38)
            return 38
        }
    }

    /// Eight bytes as a number that is not negative.
    private static func number(_ digest: [UInt8], from start: Int) -> UInt64 {
        digest[start..<(start + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & UInt64(Int64.max)
    }

    /// Writes a number into the buffer as 19 decimal digits, the length of the greatest number.
    private static func put(_ number: UInt64, in room: UnsafeMutableBufferPointer<UInt8>, before end: Int) {
        var rest = number
        for place in (end - 19..<end).reversed() {
            room[place] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
            rest /= 10
        }
    }

    /// Whether a text can be an identity: digits alone.
    static func isValid(_ text: String) -> Bool {
        text.utf8.count == 38 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// The vendor's names of a push service.
struct PushService {
    /// The name in registrations.
    let platform: String
    /// The number of its tokens at the identity service.
    let source: String

    private static let rows: [PushToken.Service: PushService] = [
        .apns: PushService(platform: "apns", source: "20920"), .fcm: PushService(platform: "gcm", source: "20919"),
    ]

    /// The service of a device: its token's, else the one of its platform. Nil for a service that the vendor lacks, or that
    /// the device's platform does not have.
    init?(_ device: Device) {
        let android = device.facts.map { $0.platform.lowercased() == "android" }
        let expected: PushToken.Service = android == true ? .fcm : .apns
        let service = device.pushToken?.service ?? expected
        guard let row = Self.rows[service], android == nil || service == expected else { return nil }
        self = row
    }

    /// Creates the service from its name in registrations.
    init?(platform: String) {
        guard let row = Self.rows.values.first(where: { $0.platform == platform }) else { return nil }
        self = row
    }

    /// Returns the form of the service's tokens on the wire; nil if the text is not a token.
    static func text(of token: PushToken) -> String? {
        let bytes = token.value.utf8
        switch token.service {
        case .apns:
            let isValid = !bytes.isEmpty && bytes.count.isMultiple(of: 2) && bytes.allSatisfy(UUIDText.isHexDigit)
            return isValid ? token.value.lowercased() : nil
        default: return !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E) ~= $0 } ? token.value : nil
        }
    }

    private init(platform: String, source: String) { (self.platform, self.source) = (platform, source) }
}
