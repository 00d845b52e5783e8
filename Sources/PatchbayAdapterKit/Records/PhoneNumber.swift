import PatchbayModel

/// A telephone number as people and spreadsheets write it: with spaces, dashes, brackets and points.
public struct PhoneNumber: Hashable, Sendable {
    /// The form in which a column takes numbers.
    public enum Form: Hashable, Sendable, BitwiseCopyable {
        /// As they are.
        case any
        /// Digits alone, the country's code first.
        case digits
        /// A plus sign, and the digits behind it.
        case plus
    }

    /// The digits. An international number has the country's code first, without `00` and without the trunk zero that some
    /// write in brackets: `+49 (0) 151 …`.
    public let digits: String
    /// Whether it begins with a plus sign or `00`.
    public let isInternational: Bool
    /// Whether an area code in brackets comes first, without a country's code.
    private let hasAreaCode: Bool

    /// Reads a text; characters other than digits and signs count for nothing.
    public init(_ text: String) {
        var bytes = Array(text.utf8)
        // A spreadsheet writes a number of a column with fractions so.
        if bytes.suffix(2) == [0x2E, 0x30], bytes.dropLast(2).allSatisfy({ $0 &- 0x30 < 10 }) { bytes.removeLast(2) }
        var (digits, place) = ([UInt8](), 0)
        var (hasPlus, hasAreaCode) = (false, false)
        while place < bytes.count {
            switch bytes[place] {
            case 0x30...0x39: digits.append(bytes[place])
            case UInt8(ascii: "+") where digits.isEmpty: hasPlus = true
            case UInt8(ascii: "("):
                if !digits.isEmpty, let end = Self.end(ofTrunkZero: bytes, from: place + 1) {
                    place = end
                } else if digits.isEmpty, !hasPlus, place + 1 < bytes.count, bytes[place + 1] != UInt8(ascii: "+") {
                    hasAreaCode = true
                }
            default: break
            }
            place += 1
        }
        let hasZeros = !hasPlus && digits.starts(with: [0x30, 0x30])
        if hasZeros { digits.removeFirst(2) }
        self.digits = String(decoding: digits, as: UTF8.self)
        isInternational = hasPlus || hasZeros
        self.hasAreaCode = hasAreaCode && !isInternational
    }

    /// The place of the bracket behind a zero that stands in brackets alone.
    private static func end(ofTrunkZero bytes: [UInt8], from start: Int) -> Int? {
        let rest = bytes[start...].drop { $0 == 0x20 }
        guard rest.first == 0x30 else { return nil }
        let behind = rest.dropFirst().drop { $0 == 0x20 }
        return behind.first == UInt8(ascii: ")") ? behind.startIndex : nil
    }

    /// The fewest digits with which a number without a plus sign is taken for one with a country's code, where a column wants
    /// the plus sign.
    public static let fewestDigitsWithoutPlus = 11

    /// The text in a column's form; nil where the country's code is missing or cannot be recognized.
    ///
    /// Digits alone, such as `4915100000001`, are a vendor's way to write an international number; ten digits or fewer may
    /// as well be a national one.
    public func text(in form: Form) -> String? {
        guard (4...15).contains(digits.utf8.count) else { return nil }
        let mayBeNational = !isInternational && (digits.hasPrefix("0") || hasAreaCode)
        switch form {
        case .any: return isInternational ? "+\(digits)" : digits
        case .digits: return mayBeNational ? nil : digits
        case .plus:
            let isLong = isInternational || digits.utf8.count >= Self.fewestDigitsWithoutPlus
            return mayBeNational || !isLong ? nil : "+\(digits)"
        }
    }
}

extension Identifier {
    /// What two spellings of one key or address have in common: letters in lower case without space around them; of a
    /// telephone number the digits.
    package var addressKey: String {
        kind == .phone ? PhoneNumber(value).digits : value.trimmed.lowercased()
    }
}
