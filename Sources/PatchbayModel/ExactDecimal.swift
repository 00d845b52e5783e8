public import PatchbayJSON

/// A decimal number that keeps its notation: `49.90` keeps its last zero, and no digit is lost to binary fractions.
///
/// Two numbers are equal only if their notation is: `49.90` and `49.9` differ, because the digits of an amount may matter.
public struct ExactDecimal: Hashable, Sendable {
    /// Plain digits with at most one decimal point; no exponent, no leading zeros, no plus sign: `-0.5`, `1200`, `49.90`.
    public let text: String

    /// Creates a number from the text of a JSON number; an exponent is expanded. Nil if the text is not a number or needs over
    /// 400 digits.
    public init?(text: String) {
        guard let number = JSONNumber(text: text) else { return nil }
        self.init(number)
    }

    /// Creates a number with the exponent expanded; nil if that needs over 400 digits.
    public init?(_ number: JSONNumber) {
        let parts = number.text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        guard parts.count == 2 else {
            guard number.text.utf8.count(where: { (0x30...0x39).contains($0) }) <= 400 else { return nil }
            text = number.text
            return
        }
        guard let exponent = Int(parts[1]), abs(exponent) <= 400 else { return nil }
        let isNegative = parts[0].hasPrefix("-")
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        var digits = mantissa.joined()
        var scale = (mantissa.count == 2 ? mantissa[1].utf8.count : 0) - exponent
        if scale < 0 {
            digits += String(repeating: "0", count: -scale)
            scale = 0
        }
        if digits.utf8.count <= scale { digits = String(repeating: "0", count: scale + 1 - digits.utf8.count) + digits }
        guard digits.utf8.count <= 400 else { return nil }
        let whole = digits.dropLast(scale).drop { $0 == "0" }
        let plain = (whole.isEmpty ? "0" : String(whole)) + (scale > 0 ? "." + digits.suffix(scale) : "")
        text = (isNegative ? "-" : "") + plain
    }

    /// Creates a decimal from an integer.
    public init(_ value: some BinaryInteger) { text = String(value) }

    /// The number as a JSON number.
    public var json: JSONNumber { JSONNumber(text: text) ?? JSONNumber(0) }
}
