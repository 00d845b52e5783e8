public import PatchbayModel

/// A telephone number as people and spreadsheets write it: with spaces, dashes, brackets, and dots.
public struct PhoneNumber: Hashable, Sendable {
    /// The form of numbers in a column.
    public enum Form: Hashable, Sendable, BitwiseCopyable {
        /// Unchanged.
        case any
        /// Digits only, beginning with the country code.
        case digits
        /// A plus sign followed by the digits.
        case plus
    }

    /// The digits. An international number begins with the country code, without `00` and without the trunk zero that some
    /// people write in brackets: `+49 (0) 151 …`.
    public let digits: String
    /// Whether it begins with a plus sign or `00`.
    public let isInternational: Bool
    /// Whether it begins with an area code in brackets, without a country code.
    private let hasAreaCode: Bool

    /// Creates a number from a text. Characters other than digits and signs are ignored.
    public init(_ text: String) {
        var bytes = Array(text.utf8)
        // Spreadsheets write integers this way in a column with fractions.
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

    /// Returns the position of the bracket after a zero that is alone in brackets.
    private static func end(ofTrunkZero bytes: [UInt8], from start: Int) -> Int? {
        let rest = bytes[start...].drop { $0 == 0x20 }
        guard rest.first == 0x30 else { return nil }
        let behind = rest.dropFirst().drop { $0 == 0x20 }
        return behind.first == UInt8(ascii: ")") ? behind.startIndex : nil
    }

    /// Returns the number with the country's calling code, if it has none.
    package func international(in country: CountryCode) -> String? {
        guard let rule = Self.callingCodes[country.text] else { return nil }
        let isLong = digits.hasPrefix(rule.code) && digits.utf8.count >= Self.fewestDigitsWithoutPlus
        if isInternational || isLong && !hasAreaCode { return digits }
        let isTrunk = !rule.trunk.isEmpty && digits.hasPrefix(rule.trunk)
        let number = rule.code + digits.dropFirst(isTrunk ? rule.trunk.utf8.count : 0)
        return (8...15).contains(number.utf8.count) ? number : nil
    }

    /// Returns the calling code of a country; nil if there is none.
    package static func callingCode(of country: CountryCode) -> String? { callingCodes[country.text]?.code }

    /// Calling codes (ITU-T E.164) and trunk prefixes of national numbers, by country.
    private static let callingCodes: [String: (code: String, trunk: String)] = {
        let codes = """
            AD376 AE971 AF93 AG1 AI1 AL355 AM374 AO244 AR54 AS1 AT43 AU61 AW297 AX358 AZ994 BA387 BB1 BD880 BE32 BF226 BG359 \
            BH973 BI257 BJ229 BL590 BM1 BN673 BO591 BQ599 BR55 BS1 BT975 BW267 BY375 BZ501 CA1 CC61 CD243 CF236 CG242 CH41 \
            CI225 CK682 CL56 CM237 CN86 CO57 CR506 CU53 CV238 CW599 CX61 CY357 CZ420 DE49 DJ253 DK45 DM1 DO1 DZ213 EC593 \
            EE372 EG20 EH212 ER291 ES34 ET251 FI358 FJ679 FK500 FM691 FO298 FR33 GA241 GB44 GD1 GE995 GF594 GG44 GH233 GI350 \
            GL299 GM220 GN224 GP590 GQ240 GR30 GT502 GU1 GW245 GY592 HK852 HN504 HR385 HT509 HU36 ID62 IE353 IL972 IM44 IN91 \
            IO246 IQ964 IR98 IS354 IT39 JE44 JM1 JO962 JP81 KE254 KG996 KH855 KI686 KM269 KN1 KP850 KR82 KW965 KY1 KZ7 LA856 \
            LB961 LC1 LI423 LK94 LR231 LS266 LT370 LU352 LV371 LY218 MA212 MC377 MD373 ME382 MF590 MG261 MH692 MK389 ML223 \
            MM95 MN976 MO853 MP1 MQ596 MR222 MS1 MT356 MU230 MV960 MW265 MX52 MY60 MZ258 NA264 NC687 NE227 NF672 NG234 NI505 \
            NL31 NO47 NP977 NR674 NU683 NZ64 OM968 PA507 PE51 PF689 PG675 PH63 PK92 PL48 PM508 PR1 PS970 PT351 PW680 PY595 \
            QA974 RE262 RO40 RS381 RU7 RW250 SA966 SB677 SC248 SD249 SE46 SG65 SH290 SI386 SJ47 SK421 SL232 SM378 SN221 \
            SO252 SR597 SS211 ST239 SV503 SX1 SY963 SZ268 TC1 TD235 TG228 TH66 TJ992 TK690 TL670 TM993 TN216 TO676 TR90 TT1 \
            TV688 TW886 TZ255 UA380 UG256 US1 UY598 UZ998 VA39 VC1 VE58 VG1 VI1 VN84 VU678 WF681 WS685 XK383 YE967 YT262 \
            ZA27 ZM260 ZW263
            """
        // In these countries a leading zero is part of the number, or there is no trunk prefix.
        let without: Set<String> = [
            "AD", "BF", "BH", "BJ", "BZ", "CI", "CL", "CM", "CO", "CR", "CV", "CY", "CZ", "DJ", "DK", "DO", "ES", "GA",
            "GI", "GL",
            "GR", "GT", "HK", "HN", "IS", "IT", "KW", "LI", "LU", "LV", "MC", "ML", "MO", "MT", "MU", "MV", "MX", "NE",
            "NI", "NO",
            "OM", "PA", "PL", "PT", "QA", "RW", "SC", "SG", "SJ", "SM", "SN", "SV", "TG", "TN", "TT", "UZ", "VA",
        ]
        return Dictionary(
            uniqueKeysWithValues: codes.split(separator: " ").map { entry in
                let (country, code) = (String(entry.prefix(2)), String(entry.dropFirst(2)))
                let trunk =
                    code == "1" ? "1" : ["HU": "06", "RU": "8", "KZ": "8", "BY": "8", "LT": "0"][country] ?? "0"
                return (country, (code, without.contains(country) ? "" : trunk))
            }
        )
    }()

    /// The length of the calling code, by the first three digits of an international number; 0 if there is none.
    package static let callingCodeLengths: [UInt8] = {
        var lengths = [UInt8](repeating: 0, count: 1000)
        for code in Set(callingCodes.values.map(\.code)) {
            let span = [1: 100, 2: 10][code.utf8.count] ?? 1
            let first = (Int(code) ?? 0) * span
            for place in first..<first + span { lengths[place] = UInt8(code.utf8.count) }
        }
        return lengths
    }()

    /// Returns the number of digits before the national number: the calling code, or the 8 at the beginning of Russian numbers.
    ///
    /// - Parameters:
    ///   - first: The first three digits as a number.
    ///   - count: The number of digits.
    ///   - length: The length of the calling code that begins with these digits.
    ///   - isInternational: Whether the number begins with a plus sign or `00`.
    /// - Returns: The number of digits; 0 if there is no recognizable prefix.
    @inline(__always) package static func prefixLength(
        _ first: Int,
        count: Int,
        code length: UInt8,
        isInternational: Bool
    ) -> Int {
        guard isInternational || count >= fewestDigitsWithoutPlus else { return 0 }
        if length > 0 { return Int(length) }
        return !isInternational && count == fewestDigitsWithoutPlus && first / 100 == 8 ? 1 : 0
    }

    /// Texts for comparison. Two spellings of the same number share at least one of them. They are its digits, if it may have a
    /// calling code, and its national number without leading zeros.
    package var comparisonKeys: [String] {
        func national(_ digits: some StringProtocol) -> String { String(digits.drop { $0 == "0" }) }
        if !isInternational, digits.hasPrefix("0") || hasAreaCode { return [national(digits)] }
        let first = Int(digits.prefix(3)) ?? 0
        let length =
            digits.utf8.count < 3
            ? 0
            : Self.prefixLength(
                first,
                count: digits.utf8.count,
                code: Self.callingCodeLengths[first],
                isInternational: isInternational
            )
        return length == 0 ? [digits] : [digits, national(digits.dropFirst(length))]
    }

    /// The minimum number of digits of a number without a plus sign that is treated as international in a column that requires
    /// the plus sign.
    public static let fewestDigitsWithoutPlus = 11

    /// Returns the text in a column's form.
    ///
    /// Digits alone, such as `4915100000001`, are a vendor's way to write an international number. Ten digits or fewer may also
    /// be a national one.
    ///
    /// - Parameters:
    ///   - form: The column's form.
    ///   - country: The country of numbers without a country code.
    /// - Returns: The text; nil if the country code is missing or cannot be recognized.
    public func text(in form: Form, defaultCountry country: CountryCode? = nil) -> String? {
        guard (4...15).contains(digits.utf8.count) else { return nil }
        if !isInternational, let country, let number = international(in: country) {
            return form == .digits ? number : "+\(number)"
        }
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
    /// The normalized text that spellings of the same key or address share: in lower case without surrounding white space; for
    /// a telephone number, the digits.
    package var addressKey: String {
        kind == .phone ? PhoneNumber(value).digits : value.trimmed.lowercased()
    }

    /// Texts for comparison. Two spellings of the same key or address share at least one of them.
    package var comparisonKeys: [String] {
        kind == .phone ? PhoneNumber(value).comparisonKeys : [value.trimmed.lowercased()]
    }

    /// Whether both may be spellings of the same address.
    package func isSameAddress(as other: Identifier) -> Bool {
        kind == other.kind && !Set(comparisonKeys).isDisjoint(with: other.comparisonKeys)
    }
}
