import PatchbayAdapterKit
import PatchbayJSON

/// The device event state: the JSON text of an object of the vendor, stored and returned byte for byte.
struct EventState: RawRepresentable, Codable, Sendable, Equatable {
    let rawValue: String
}

extension WireFormat<EventState> {
    /// Writes the object unchanged.
    static let eventState = WireFormat("JSON", schema: [:]) { state, writer in writer.raw(state.rawValue) }
}

/// A reply's body, parsed leniently: it may have a byte-order mark, a repeated name, or half of a surrogate pair.
struct ReplyObject {
    /// The members that could be read, except the device event state and everything that is null, at any depth. If a name
    /// occurs twice, the last member counts.
    private(set) var json: JSONValue = .object([:])
    /// The device event state; nil if there is none, or if it is no object.
    private(set) var eventState: EventState?
    /// Whether the text ends early or is no JSON. The text before the error has been read.
    private(set) var isDamaged = false
    /// Whether the text is a JSON object, complete or not.
    private(set) var isObject = false

    init(_ bytes: [UInt8]) {
        let text = Array(bytes.withoutByteOrderMark)
        guard !text.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return }
        var members = JSONObject()
        do {
            try JSONReader.read(Self.withoutLoneSurrogates(text), duplicateNames: .keepLast) {
                reader throws(JSONError) in try read(&reader, text, &members)
            }
        } catch {
            isDamaged = true
        }
        json = JSONValue.object(members).withoutNulls
    }

    private mutating func read(
        _ reader: inout JSONReader,
        _ text: [UInt8],
        _ members: inout JSONObject
    ) throws(JSONError) {
        guard try reader.next() == .beginObject else {
            while try reader.next() != nil {}
            return
        }
        isObject = true
        while try reader.next() == .name {
            let name = reader.string
            guard name == "deviceEventState" else {
                members[name] = try reader.value()
                continue
            }
            let range = try reader.skipValue()
            let isState = text[range.lowerBound] == UInt8(ascii: "{")
            eventState = isState ? EventState(rawValue: String(decoding: text[range], as: UTF8.self)) : nil
        }
        while try reader.next() != nil {}
    }

    /// The same text, of the same length, with U+FFFD for each escape that is half of a surrogate pair.
    private static func withoutLoneSurrogates(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(UInt8(ascii: "\\")) else { return text }
        var (clean, place) = (text, 0)
        while place < text.count {
            guard text[place] == UInt8(ascii: "\\") else {
                place += 1
                continue
            }
            switch unit(at: place, in: text) {
            case .some(0xD800...0xDBFF):
                let isPair = unit(at: place + 6, in: text).map { (0xDC00...0xDFFF).contains($0) } ?? false
                if !isPair { clean.replaceSubrange(place..<place + 6, with: "\\ufffd".utf8) }
                place += isPair ? 12 : 6
            case .some(0xDC00...0xDFFF):
                clean.replaceSubrange(place..<place + 6, with: "\\ufffd".utf8)
                place += 6
            case .some: place += 6
            case nil: place += 2
            }
        }
        return clean
    }

    /// Returns the code unit of an escape `\uXXXX`; nil if there is none at that position.
    private static func unit(at place: Int, in text: [UInt8]) -> UInt16? {
        guard place + 6 <= text.count, text[place] == UInt8(ascii: "\\"), text[place + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = text[place + 2..<place + 6]
        guard digits.allSatisfy(UUIDText.isHexDigit) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
