import PatchbayAdapterKit
import PatchbayJSON

/// The required form of a value in a request.
struct Shape: Sendable {
    /// A description of the form.
    let name: String
    let matches: @Sendable (JSONValue) -> Bool

    static let flag = Shape(name: "a boolean") { $0.bool != nil }
    static let text = Shape(name: "text that is not blank") { $0.string.map { !$0.trimmed.isEmpty } ?? false }
    static let trimmedText = Shape(name: "trimmed text that is not blank") {
        $0.string.map { !$0.isEmpty && $0.trimmed == $0 } ?? false
    }
    static let pushToken = Shape(name: "a push token without white space") {
        $0.string.map { !$0.isEmpty && !$0.contains(where: \.isWhitespace) } ?? false
    }
    static let uuid = Shape(name: "a UUID") {
        $0.string.map { fits($0, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") } ?? false
    }
    static let seconds = Shape(name: "seconds as decimal text, within a day") { value in
        guard let text = value.string, let number = Int(text), String(number) == text else { return false }
        return abs(number) < 86_400
    }
    static let utcDate = Shape(name: "UTC with milliseconds") {
        $0.string.map { fits($0, "0000-00-00T00:00:00.000Z") } ?? false
    }
    static let locale = Shape(name: "a locale with an underscore") { value in
        value.string.map { !$0.isEmpty && !$0.contains("-") } ?? false
    }
    static let platform = Shape(name: "iOS or Android") { $0.string == "iOS" || $0.string == "Android" }
    static let attributes = Shape(
        name: "an array of {key, value} pairs of trimmed texts with different keys, none reserved"
    ) {
        value in
        guard let pairs = value.array else { return false }
        let keys = pairs.compactMap { pair -> String? in
            guard let object = pair.object, object.names.sorted() == ["key", "value"],
                let text = object["value"]?.string, text.trimmed == text,
                let key = object["key"]?.string, !key.isEmpty, key.trimmed == key, key.utf16.count <= 128,
                !reserved.contains(key.lowercased())
            else { return nil }
            return key
        }
        return keys.count == pairs.count && Set(keys).count == keys.count
    }
    static let tags = Shape(name: "an array of different tags with ALL among them") { value in
        guard let tags = value.array?.compactMap(\.string), tags.count == value.array?.count else { return false }
        return Set(tags).count == tags.count && tags.contains("ALL")
            && tags.allSatisfy { !$0.isEmpty && $0.trimmed == $0 }
    }

    /// The reserved names of attributes, in lower case. The simulator has its own copy of the list, because it checks
    /// the adapter.
    private static let reserved = Set(
        """
        addressid alias apid backgroundrefreshenabled badge channel contactid contactkey createdby createddate
        customobjectkey device deviceid devicetype gcmsenderid hardwareid ishonordst lastappopen lastmessageopen lastsend
        locationenabled messageopencount modifiedby modifieddate optindate optinmethodid optinstatusid optoutdate
        optoutmethodid optoutstatusid platform platformversion providertoken proximityenabled pushaddressextensionid
        pushapplicationid sdkversion sendcount source sourceobjectid status systemtoken timezone utcoffset
        signedstring quietpushenabled hwid
        """.split(whereSeparator: \.isWhitespace).map(String.init)
    )
}

/// A text as a pattern of its characters: `0` any digit, `x` any hexadecimal digit, the rest itself.
private func fits(_ text: String, _ pattern: String) -> Bool {
    let (bytes, pattern) = (Array(text.utf8), Array(pattern.utf8))
    guard bytes.count == pattern.count else { return false }
    return zip(bytes, pattern).allSatisfy { byte, sign in
        switch sign {
        case UInt8(ascii: "0"): (0x30...0x39).contains(byte)
        case UInt8(ascii: "x"):
            (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        default: byte == sign
        }
    }
}
