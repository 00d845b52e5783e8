import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// The JSON syntax between values, and the values that are read. No function skips a byte that it did not examine.
enum Grammar {
    /// The next element.
    enum Way { case on, end, bad }

    // White space is searched for only if an expected byte is missing, because most files have none.

    /// Whether a byte comes next. If so, the cursor moves to it.
    @inline(__always) static func comes(_ byte: UInt8, _ place: inout Bytes) -> Bool {
        if place.pointee == byte { return true }
        space(&place)
        return place.pointee == byte
    }

    /// Skips white space.
    @inline(__always) static func space(_ place: inout Bytes) {
        if place.pointee <= 0x20 { place = behindSpace(place) }
    }

    @inline(never) private static func behindSpace(_ start: Bytes) -> Bytes {
        var place = start
        while place.pointee == 0x20 || place.pointee == 0x09 || place.pointee == 0x0D { place += 1 }
        return place
    }

    // The brace or comma of an object and the quote of the next name are read as one word of two bytes. If white space is
    // between them, a separate function reads them.

    /// The result of reading them separately.
    private struct Step {
        var way = Way.bad
        var place: Bytes
    }

    @inline(__always) private static func take(_ step: Step, _ place: inout Bytes) -> Way {
        place = step.place
        return step.way
    }

    @inline(__always) private static func pair(_ place: Bytes) -> UInt16 {
        UInt16(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt16.self))
    }

    /// Skips an opening brace and the quote of the first name, or an object without members.
    @inline(__always) static func openObject(_ place: inout Bytes) -> Way {
        guard pair(place) == 0x227B else { return take(openSpaced(place), &place) }
        place += 2
        return .on
    }

    @inline(never) private static func openSpaced(_ start: Bytes) -> Step {
        var step = Step(place: start)
        guard comes(0x7B, &step.place) else { return step }
        step.place += 1
        step.way = comes(0x22, &step.place) ? .on : step.place.pointee == 0x7D ? .end : .bad
        step.place += 1
        return step
    }

    /// Skips the comma after a member and the quote of the next name, or the closing brace.
    @inline(__always) static func nextMember(_ place: inout Bytes) -> Way {
        if pair(place) == 0x222C {
            place += 2
            return .on
        }
        guard place.pointee == 0x7D else { return take(nextSpaced(place), &place) }
        place += 1
        return .end
    }

    @inline(never) private static func nextSpaced(_ start: Bytes) -> Step {
        var step = Step(place: start)
        if comes(0x2C, &step.place) {
            step.place += 1
            step.way = comes(0x22, &step.place) ? .on : .bad
        } else if step.place.pointee == 0x7D {
            step.way = .end
        }
        step.place += 1
        return step
    }

    /// Skips the opening bracket of a list. Returns whether the list has elements.
    @inline(__always) static func openList(_ place: inout Bytes) -> Way {
        guard comes(0x5B, &place) else { return .bad }
        place += 1
        guard comes(0x5D, &place) else { return .on }
        place += 1
        return .end
    }

    /// Skips the comma after an element of a list, or the closing bracket.
    @inline(__always) static func nextElement(_ place: inout Bytes) -> Way {
        space(&place)
        let byte = place.pointee
        place += 1
        return byte == 0x2C ? .on : byte == 0x5D ? .end : .bad
    }

    // MARK: Objects and lists

    /// Reads the members of an object, and returns the position after it.
    ///
    /// `body` receives the index of a name in the table and the position after its colon. `other` receives the position
    /// after the opening quote of any other name. Each returns the position after the value. The result is nil for an
    /// object that is not well-formed, for a repeated name, if one of the closures returns nil, and if a name whose bit is
    /// in `required` is missing.
    @inline(__always) static func members(
        _ start: Bytes,
        of table: KeyTable,
        required: UInt64 = 0,
        _ body: (_ index: Int, _ place: Bytes) -> Bytes?,
        other: (_ name: Bytes) -> Bytes? = { _ in nil }
    ) -> Bytes? {
        var (place, seen) = (start, 0 as UInt64)
        var way = openObject(&place)
        while way == .on {
            let index = table.find(&place)
            let bit: UInt64 = index < 0 ? 0 : 1 &<< UInt64(index)
            guard index < 64, seen & bit == 0, let end = index < 0 ? other(place) : body(index, place) else {
                return nil
            }
            seen |= bit
            place = end
            way = nextMember(&place)
        }
        return way == .end && seen & required == required ? place : nil
    }

    /// Reads the elements of a list, and returns the position after it. `body` receives the position of each element and
    /// returns the position after it.
    @inline(__always) static func elements(_ start: Bytes, _ body: (_ place: Bytes) -> Bytes?) -> Bytes? {
        var place = start
        var way = openList(&place)
        while way == .on {
            guard let end = body(place) else { return nil }
            place = end
            way = nextElement(&place)
        }
        return way == .end ? place : nil
    }

    /// Skips a member with any value, from after the opening quote of its name; nil at the end of the text.
    static func passMember(_ name: Bytes) -> Bytes? {
        guard var place = behindString(name), comes(0x3A, &place) else { return nil }
        place += 1
        space(&place)
        var depth = 0
        while true {
            switch place.pointee {
            case 0, 0x0A: return nil
            case 0x22:
                guard let end = behindString(place + 1) else { return nil }
                place = end
            case 0x7D where depth == 0, 0x2C where depth == 0: return place
            case 0x7B, 0x5B:
                depth += 1
                place += 1
            case 0x7D, 0x5D:
                depth -= 1
                place += 1
            default: place += 1
            }
        }
    }

    /// The position after a string, from after its opening quote.
    private static func behindString(_ start: Bytes) -> Bytes? {
        var place = start.endOfPlainText
        while place.pointee != 0x22 {
            guard place.pointee >= 0x20 else { return nil }
            place = (place + (place.pointee == 0x5C ? 2 : 1)).endOfPlainText
        }
        return place + 1
    }

    // MARK: Parts of a contact

    /// Reads a list of tags into a view.
    @inline(__always) static func tags(_ start: Bytes, _ view: inout RecordView) -> Bytes? {
        elements(start) { start in
            var place = start
            guard view.tagCount < RecordView.tagLimit, let tag = text(&place, view.scratch), tag.count > 0 else {
                return nil
            }
            return view.insert(tag: tag) ? place : nil
        }
    }

    /// Reads the locale or the time zone into a view.
    @inline(__always) static func text(at start: Bytes, _ isLocale: Bool, _ view: inout RecordView) -> Bytes? {
        var place = start
        guard let text = text(&place, view.scratch) else { return nil }
        let detail = RecordView.Detail(text)
        if isLocale { view.locale = detail } else { view.timeZone = detail }
        return place
    }

    // MARK: Values

    /// Reads a string, a number, a list of strings, true or false. No white space may precede it.
    @inline(__always) static func value(
        _ start: Bytes,
        _ value: UnsafeMutablePointer<ValueView>,
        _ scratch: Scratch
    ) -> Bytes? {
        var place = start
        switch place.pointee {
        case 0x22: return string(&place, value, scratch) ? place : nil
        case 0x2D, 0x30...0x39: return number(&place, value) ? place : nil
        case 0x5B: return strings(place, value, scratch)
        case 0x74, 0x66: return flag(&place, value) ? place : nil
        default: return nil
        }
    }

    /// Reads a string from its opening quote; returns false if it is not well-formed or contains NUL.
    @inline(__always) static func string(
        _ place: inout Bytes,
        _ value: UnsafeMutablePointer<ValueView>,
        _ scratch: Scratch
    ) -> Bool {
        guard comes(0x22, &place) else { return false }
        let start = place + 1
        place = start.endOfPlainText
        (value.pointee.kind, value.pointee.needsEscapes, value.pointee.isASCII) = (.string, false, true)
        if place.pointee != 0x22 {
            let rest = rest(start, place, scratch)
            guard let end = rest.end else { return false }
            (value.pointee.needsEscapes, value.pointee.isASCII) = (rest.needsEscapes, rest.isASCII)
            (value.pointee.text, place) = (rest.text, end + 1)
            return true
        }
        value.pointee.text = Stretch(start, place - start)
        place += 1
        return true
    }

    /// Reads the text of a string; nil as for ``string(_:_:_:)``.
    @inline(__always) static func text(_ place: inout Bytes, _ scratch: Scratch) -> Stretch? {
        guard comes(0x22, &place) else { return nil }
        let start = place + 1
        let stop = start.endOfPlainText
        guard stop.pointee != 0x22 else {
            place = stop + 1
            return Stretch(start, stop - start)
        }
        let rest = rest(start, stop, scratch)
        guard let end = rest.end else { return nil }
        place = end + 1
        return rest.text
    }

    /// The part of a string after its first escape or non-ASCII character, with its closing quote.
    private struct Rest {
        var end: Bytes?
        var text = Stretch.nothing
        var needsEscapes = false
        var isASCII = true
    }

    /// `stop` is the first position that ends plain text.
    @inline(never) private static func rest(_ start: Bytes, _ stop: Bytes, _ scratch: Scratch) -> Rest {
        var (rest, place) = (Rest(), stop)
        while true {
            switch place.pointee {
            case 0x22:
                (rest.end, rest.text) = (place, Stretch(start, place - start))
                return rest
            case 0x5C: return unescaped(start, place, isASCII: rest.isASCII, scratch)
            case 0x80...:
                let length = place.sequenceLength
                guard length > 0 else { return Rest() }
                place += length
                rest.isASCII = false
            default: return Rest()
            }
            place = place.endOfPlainText
        }
    }

    /// Decodes a string whose first escape is at `stop`.
    private static func unescaped(_ start: Bytes, _ stop: Bytes, isASCII: Bool, _ scratch: Scratch) -> Rest {
        var (rest, place) = (Rest(isASCII: isASCII), stop)
        guard var pen = scratch.pen(for: stop - start + Padding.count) else { return Rest() }
        pen.put(start, stop - start)
        let first = pen.place - (stop - start)
        while place.pointee != 0x22 {
            if place.pointee == 0x5C {
                guard let escape = escape(place), escape.scalar != 0 else { return Rest() }
                place = escape.end
                if escape.scalar >= 0x80 { rest.isASCII = false }
                if escape.scalar < 0x20 || escape.scalar == 0x22 || escape.scalar == 0x5C { rest.needsEscapes = true }
                pen.put(scalar: escape.scalar)
            } else {
                let length = place.pointee >= 0x80 ? place.sequenceLength : 0
                guard length > 0 else { return Rest() }
                pen.put(place, length)
                place += length
                rest.isASCII = false
            }
            let end = place.endOfPlainText
            guard scratch.pen(for: pen.place - first + (end - place) + Padding.count) != nil else { return Rest() }
            pen.put(place, end - place)
            place = end
        }
        (rest.end, rest.text) = (place, scratch.keep(pen))
        return rest
    }

    /// The scalar of the escape at a backslash, and the position after it; nil if the escape is invalid.
    private static func escape(_ place: Bytes) -> (scalar: UInt32, end: Bytes)? {
        let plain: UInt32
        switch place[1] {
        case 0x22, 0x5C, 0x2F: plain = UInt32(place[1])
        case UInt8(ascii: "b"): plain = 0x08
        case UInt8(ascii: "f"): plain = 0x0C
        case UInt8(ascii: "n"): plain = 0x0A
        case UInt8(ascii: "r"): plain = 0x0D
        case UInt8(ascii: "t"): plain = 0x09
        case UInt8(ascii: "u"):
            guard let unit = codeUnit(place + 2), unit & 0xFC00 != 0xDC00 else { return nil }
            guard unit & 0xFC00 == 0xD800 else { return (unit, place + 6) }
            guard place[6] == 0x5C, place[7] == UInt8(ascii: "u"), let trail = codeUnit(place + 8),
                trail & 0xFC00 == 0xDC00
            else { return nil }
            return (0x10000 + (unit & 0x3FF) << 10 + trail & 0x3FF, place + 12)
        default: return nil
        }
        return (plain, place + 2)
    }

    private static func codeUnit(_ place: Bytes) -> UInt32? {
        var unit: UInt32 = 0
        for index in 0..<4 {
            let byte = place[index]
            let digit = byte &- 0x30 < 10 ? byte &- 0x30 : (byte | 0x20) &- 0x61 < 6 ? (byte | 0x20) &- 0x57 : 0xFF
            guard digit < 16 else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Reads a number that the model writes unchanged. No white space may precede it.
    @inline(__always) static func number(_ place: inout Bytes, _ value: UnsafeMutablePointer<ValueView>) -> Bool {
        let start = place
        let whole = place.pointee == 0x2D ? place + 1 : place
        place = whole.endOfDigits
        let digits = place - whole
        guard digits > 0, digits == 1 || whole.pointee != 0x30 else { return false }
        (value.pointee.kind, value.pointee.needsEscapes, value.pointee.isASCII) = (.integer, false, true)
        if place.pointee == 0x2E {
            let fraction = place + 1
            place = fraction.endOfDigits
            guard place > fraction, place - start <= 64 else { return false }
            value.pointee.kind = .decimal
        } else {
            // Nineteen digits may not fit. Minus zero is written without its sign.
            guard digits <= 18, whole == start || whole.pointee != 0x30 else { return false }
        }
        value.pointee.text = Stretch(start, place - start)
        return place.pointee | 0x20 != 0x65
    }

    /// Skips four given bytes; returns false if others come next.
    @inline(__always) static func word(_ place: inout Bytes, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        for index in 0..<count where place[index] != word.utf8Start[index] { return false }
        place += count
        return true
    }

    @inline(__always) static func flag(_ place: inout Bytes) -> Bool {
        word(&place, "true") || word(&place, "false")
    }

    /// Reads `true` or `false` into a value.
    static func flag(_ place: inout Bytes, _ value: UnsafeMutablePointer<ValueView>) -> Bool {
        let start = place
        guard flag(&place) else { return false }
        value.pointee = ValueView(kind: start.pointee == 0x74 ? .yes : .no, text: Stretch(start, place - start))
        return true
    }

    /// Reads a list of strings as one value whose text is the list as JSON. Returns the position after it; nil for any
    /// other value.
    static func strings(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        var place = start
        space(&place)
        let start = place
        var isASCII = true
        var way = openList(&place)
        while way == .on {
            guard string(&place, value, scratch) else { return nil }
            isASCII = isASCII && value.pointee.isASCII
            way = nextElement(&place)
        }
        value.pointee.text = Stretch(start, place - start)
        (value.pointee.kind, value.pointee.isASCII) = (.list, isASCII)
        value.pointee.needsEscapes = value.pointee.text.index(of: 0x5C, or: 0x5C, from: 0) < value.pointee.text.count
        return way == .end ? place : nil
    }

    /// Calls `body` with each element of a list that ``strings(_:_:_:)`` has read, while it returns true.
    static func eachString(of list: Stretch, _ scratch: Scratch, _ body: (ValueView) -> Bool) -> Bool {
        var (place, value) = (list.start, RecordView.blank)
        var way = openList(&place)
        while way == .on {
            guard string(&place, &value, scratch), body(value) else { return false }
            way = nextElement(&place)
        }
        return way == .end
    }
}

/// Texts of the model's own forms, as the model writes them.
enum Forms {
    /// Decimal digits as a number; nil if there is another byte.
    @inline(__always) private static func digits(_ place: Bytes, _ count: Int) -> Int? {
        var number = 0
        for index in 0..<count {
            let digit = place[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int(digit)
        }
        return number
    }

    /// Whether the text is a valid date of the form `YYYY-MM-DD`.
    @inline(__always) static func isDate(_ text: Stretch) -> Bool { text.count == 10 && startsWithDate(text) }

    @inline(__always) private static func startsWithDate(_ text: Stretch) -> Bool {
        let start = text.start
        guard start[4] == 0x2D, start[7] == 0x2D, let year = digits(start, 4), let month = digits(start + 5, 2),
            let day = digits(start + 8, 2)
        else { return false }
        guard month > 0, month <= 12, day > 0 else { return false }
        return day <= 28 || day <= lastDay(of: month, in: year)
    }

    /// The number of a month's last day; the month is from 1 to 12.
    @inline(never) static func lastDay(of month: Int, in year: Int) -> Int {
        guard month == 2 else {
            // Bits of the months with 31 days.
            return 0b1_0101_1010_1010 &>> month & 1 == 1 ? 31 : 30
        }
        return year & 3 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    }

    /// Whether the text is an instant in UTC as the model writes it, without offset, leap second or trailing zeros.
    static func isTimestamp(_ text: Stretch) -> Bool {
        let start = text.start
        guard text.count >= 20, text.count <= 30, startsWithDate(text), start[10] == 0x54, start[13] == 0x3A,
            start[16] == 0x3A, start[text.count - 1] == 0x5A,
            let hour = digits(start + 11, 2), let minute = digits(start + 14, 2), let second = digits(start + 17, 2),
            hour < 24, minute < 60, second < 60
        else { return false }
        if text.count == 20 { return true }
        return text.count > 21 && start[19] == 0x2E && start[text.count - 2] != 0x30
            && digits(start + 20, text.count - 21) != nil
    }

    /// Whether the text is a time of day of the form `HH:MM`.
    static func isTime(_ text: Stretch) -> Bool {
        guard text.count == 5, text[2] == 0x3A, let hour = digits(text.start, 2), let minute = digits(text.start + 3, 2)
        else { return false }
        return hour < 24 && minute < 60
    }

    /// A bit for each assigned country code (``CountryCode/assigned``): a word for each first letter, with the lowest bit
    /// for A as the second letter. It is a literal, because each use of a table that is initialized lazily would check
    /// whether it is initialized.
    private static let countries: [UInt32] = [
        0x2DF5978, 0x36F7BFB, 0x3F27DED, 0x2005610, 0x00E00D4, 0x0025700, 0x15FB9FB,
        0x01A3400, 0x00F7818, 0x000D010, 0x342B1D0, 0x13E0507, 0x3FFFCFD, 0x212C975,
        0x0001000, 0x14E3CF1, 0x0000001, 0x0544010, 0x3AE7FDF, 0x26A7EEC, 0x3041041,
        0x0102155, 0x0040020, 0x0000000, 0x0080010, 0x0401001,
    ]

    /// Whether the text is a country code of two upper-case letters.
    static func isCountry(_ text: Stretch) -> Bool {
        guard text.count == 2, text[0] &- 0x41 < 26, text[1] &- 0x41 < 26 else { return false }
        return countries[Int(text[0] &- 0x41)] &>> UInt32(text[1] &- 0x41) & 1 == 1
    }

    /// Whether the text is a whole number as the model writes it.
    static func isInteger(_ text: Stretch) -> Bool {
        guard text.count > 0 else { return false }
        let isNegative = text[0] == 0x2D
        let (start, count) = isNegative ? (text.start + 1, text.count - 1) : (text.start, text.count)
        guard (1...18).contains(count), digits(start, count) != nil else { return false }
        return count == 1 ? !isNegative || start[0] != 0x30 : start[0] != 0x30
    }

    /// Whether the text looks like an e-mail address: a single @ that is neither first nor last, and no space. The text is
    /// bare.
    @inline(__always) static func isEmail(_ text: Stretch) -> Bool { placeOfAt(text) > 0 }

    /// The index of the @ of an e-mail address, which is not its first byte; 0 in any other text.
    @inline(__always) private static func placeOfAt(_ text: Stretch) -> Int {
        let at = text.index(of: 0x40, or: 0x20, from: 0)
        guard at > 0, at < text.count &- 1, text[at] == 0x40 else { return 0 }
        return text.index(of: 0x40, or: 0x20, from: at &+ 1) >= text.count ? at : 0
    }

    /// Whether the text is an address with at most 254 bytes whose host has at least two labels, each with a letter. The
    /// text is bare.
    @inline(__always) static func isAddress(_ text: Stretch) -> Bool {
        let at = placeOfAt(text)
        guard text.count <= 254, at > 0 else { return false }
        // Signs of a mail program around it: `<…>`, `"…"`, `mailto:…`, a semicolon behind it.
        let last = text[text.count &- 1]
        guard last &- 0x30 < 10 || (last | 0x20) &- 0x61 < 26, text[0] != 0x3C, text[0] != 0x22,
            at < 6 || text[6] != 0x3A || Stretch(text.start, 6).text.lowercased() != "mailto"
        else { return false }
        var (start, dots) = (at &+ 1, 0)
        while true {
            let dot = text.index(of: 0x2E, or: 0x2E, from: start)
            if dot >= text.count { return dots > 0 && start < text.count }
            guard dot > start else { return false }
            dots &+= 1
            start = dot &+ 1
        }
    }

    /// Whether the text has four to fifteen digits, and only the usual signs between them. The text is bare.
    @inline(__always) static func isPhone(_ text: Stretch) -> Bool {
        let digits = plainDigits(text)
        return digits >= 0 && text[0] != 0x30 ? (4...15).contains(digits) : hasDigits(text)
    }

    @inline(never) private static func hasDigits(_ text: Stretch) -> Bool {
        if isUnusualPhone(text) { return FieldForm.isPhone(text.text) }
        var digits = 0
        for index in 0..<text.count {
            switch text[index] {
            case 0x30...0x39: digits += 1
            case 0x2B, 0x2D, 0x28, 0x29, 0x2E, 0x2F, 0x20: break
            default: return false
            }
        }
        return (4...15).contains(digits)
    }

    /// The number of digits of a text that has only digits, with an optional plus sign before them; -1 for any other text,
    /// and for more than 16 bytes. The text is bare.
    @inline(__always) static func plainDigits(_ text: Stretch) -> Int {
        guard text.count > 0, text.count <= Block.count else { return -1 }
        let signs = text[0] == 0x2B ? 1 : 0
        let first = Block.first(Block.nonDigits(in: Block.load(text.start + signs)))
        return first &+ signs >= text.count ? text.count &- signs : -1
    }

    /// Whether an identifier needs no cleaning. The reader cleans or rejects others: see `IdentifierText`.
    @inline(__always) static func isUsualIdentifier(_ value: ValueView) -> Bool {
        let text = value.text
        guard value.isASCII, !value.needsEscapes, text.count > 0 else { return false }
        let first = text[0] | 0x20
        // A text of this length that begins with a zero may be a UUID of zeros.
        if text[0] &- 0x30 < 10 { return !isScientific(text) && (text[0] != 0x30 || text.count != 36) }
        // A short text that begins with n or u may stand for a missing value (null, undefined). A plus sign begins a telephone
        // number.
        return first &- 0x61 < 26
            ? (first != 0x6E && first != 0x75) || text.count > 9
            : text[0] == 0x2B && text.count > 4
                && !isScientific(text)
    }

    /// Whether an identifier can identify one person, and has no surrounding characters that its reader removes.
    @inline(__always) static func isSoundIdentifier(_ value: ValueView) -> Bool {
        isUsualIdentifier(value) || IdentifierText.isSound(value.text.text)
    }

    /// Whether a text of digits may be a number in scientific notation.
    @inline(__always) private static func isScientific(_ text: Stretch) -> Bool {
        var index = 1
        while index < text.count, text[index] &- 0x30 < 10 || text[index] == 0x2E || text[index] == 0x2C { index &+= 1 }
        return index < text.count && text[index] | 0x20 == 0x65
    }

    /// Whether only ``PhoneNumber`` can read a text: one that begins with `00`, ends with `.0`, or has a zero in brackets.
    /// The text is bare.
    @inline(__always) static func isUnusualPhone(_ text: Stretch) -> Bool {
        if plainDigits(text) >= 0 { return text[0] == 0x30 && text.count > 1 && text[1] == 0x30 }
        return isUnusualSpelling(text)
    }

    @inline(never) private static func isUnusualSpelling(_ text: Stretch) -> Bool {
        var digits = 0
        var zeros = 0
        for index in 0..<text.count {
            switch text[index] {
            case 0x28:
                var next = index + 1
                while next < text.count, text[next] == 0x20 { next += 1 }
                if next < text.count, text[next] == 0x30 { return true }
            case 0x30...0x39:
                if text[index] == 0x30, zeros == digits { zeros += 1 }
                digits += 1
            default: break
            }
        }
        return zeros > 1 || text.count > 1 && text[text.count - 1] == 0x30 && text[text.count - 2] == 0x2E
    }

    /// A phone number without its other signs, which is written to `line`; empty if the text is not one. The text is bare.
    @inline(__always) static func phone(_ text: Stretch, _ line: UnsafeMutablePointer<UInt8>) -> Stretch {
        let digits = plainDigits(text)
        if digits >= 5, digits <= 15 { return text }
        return Stretch(Bytes(line), cleaned(text, line))
    }

    @inline(never) private static func cleaned(_ text: Stretch, _ line: UnsafeMutablePointer<UInt8>) -> Int {
        guard text.count <= 64 else { return 0 }
        var (count, digits) = (0, 0)
        for index in 0..<text.count {
            let byte = text[index]
            if byte &- 0x30 < 10 {
                digits &+= 1
                guard digits <= 15 else { return 0 }
            } else if byte == 0x2B {
                guard count == 0 else { return 0 }
            } else {
                guard byte == 0x20 || byte == 0x2D || byte == 0x28 || byte == 0x29 || byte == 0x2E || byte == 0x2F
                else { return 0 }
                continue
            }
            line[count] = byte
            count &+= 1
        }
        return digits >= 5 ? count : 0
    }
}
