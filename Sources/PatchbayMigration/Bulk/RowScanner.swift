import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a contact from a row of delimited text into a view, byte by byte.
///
/// As with the scanner of lines, false is for a row that is anything but plain.
struct RowScanner: BitwiseCopyable {
    private enum Work: UInt8, BitwiseCopyable { case identifier, attribute, locale, timeZone, unusual }
    private enum Form: UInt8, BitwiseCopyable { case any, email, phone }

    /// What is done with a column once the row is split, in the order of a contact.
    private struct Step: BitwiseCopyable {
        var work: Work
        var column: Int
        /// The kind of the identifier, or the rank of the attribute.
        var index: Int
        var form: Form
        var type: TypeCode
        var isRequired: Bool
    }

    private let delimiter: UInt8
    private let quote: UInt8
    private let hasQuotes: Bool
    /// A byte that only the reader understands; NUL, which no text holds, where there is none.
    private let unusual: UInt8
    private let columnCount: Int
    private let steps: Row<Step>
    /// One value for each column, of the row that was split last.
    private let fields: UnsafeMutablePointer<ValueView>
    /// Room for texts that are escaped: the longest row seven times over, and padding.
    private let scratch: UnsafeMutablePointer<UInt8>

    init(_ layout: ColumnLayout, _ columns: [ColumnLayout.Column], _ plan: CompiledPlan, in arena: Arena) {
        delimiter = layout.dialect.delimiter
        quote = layout.dialect.quote
        hasQuotes = layout.dialect.quoting != .never
        unusual = layout.unusualByte ?? 0
        columnCount = columns.count
        fields = arena.make(columns.count, of: RecordView.blank)
        scratch = arena.make(7 * Self.longest + Padding.count, of: 0)
        var steps: [(order: String, step: Step)] = []
        for (index, column) in columns.enumerated() {
            var step = Step(
                work: .unusual,
                column: index,
                index: -1,
                form: .any,
                type: .any,
                isRequired: column.isRequired
            )
            switch column.form {
            case .any: break
            case .email: step.form = .email
            case .phone: step.form = .phone
            }
            var order = "2"
            switch column.role {
            case .ignored: continue
            case .unusual: break
            case .locale: step.work = .locale
            case .timeZone: step.work = .timeZone
            case .identifier(let kind):
                (step.work, step.index) = (.identifier, plan.index(of: kind))
                order = kind == .external ? "0" : "1\(kind.rawValue)"
            case .attribute(let name, let type):
                guard let rank = plan.rank(of: name) else { break }
                (step.work, step.index, step.type) = (.attribute, rank, TypeCode(type))
            }
            steps.append((order, step))
        }
        self.steps = arena.make(steps.sorted { $0.order < $1.order }.map(\.step))
    }

    /// The longest row that goes the fast way.
    static let longest = 64 << 10

    /// Reads the row at the cursor; afterwards the cursor is behind its line end, or at `end` if it has none.
    ///
    /// `lines` counts the line feeds inside its fields. `end` is behind a line feed or before the padding.
    @inline(__always) func scan(
        _ place: inout Bytes,
        _ end: Bytes,
        _ view: inout RecordView,
        _ lines: inout Int
    ) -> Bool {
        view.clear()
        guard split(&place, end, &lines) else { return false }
        for index in 0..<steps.count {
            let step = steps[index]
            let value = fields + step.column
            guard value.pointee.text.count > 0 else {
                if step.isRequired { return false }
                continue
            }
            switch step.work {
            case .identifier:
                guard Self.fits(value.pointee, step.form), view.identifierCount < RecordView.identifierLimit else {
                    return false
                }
                view.identifiers[view.identifierCount].kind = step.index
                view.identifiers[view.identifierCount].value = value.pointee
                view.identifierCount += 1
            case .attribute:
                guard let attribute = view.attribute(step.index) else { return false }
                attribute.pointee = value.pointee
                guard attribute.pointee.convert(to: step.type) else { return false }
            case .locale: view.hasLocale = true
            case .timeZone:
                guard memchr(value.pointee.text.start, 0x2F, value.pointee.text.count) != nil else { return false }
                (view.hasTimeZone, view.timeZone) = (true, value.pointee.text)
            case .unusual: return false
            }
        }
        return true
    }

    @inline(__always) private static func fits(_ value: ValueView, _ form: Form) -> Bool {
        switch form {
        case .any: return true
        case .email:
            guard value.isBare, value.text.count <= 254, Forms.isEmail(value.text) else { return false }
            var (place, last) = (value.text.start, value.text.start + value.text.count)
            while place.pointee != 0x40 { place += 1 }
            place += 1
            // Every label of the host has a letter, and there are two.
            var labels = 1
            guard place.pointee != 0x2E, last[-1] != 0x2E else { return false }
            while place < last {
                if place.pointee == 0x2E {
                    guard place[1] != 0x2E else { return false }
                    labels += 1
                }
                place += 1
            }
            last = place
            return labels > 1
        case .phone:
            guard value.isBare else { return false }
            var digits = 0
            for index in 0..<value.text.count {
                switch value.text[index] {
                case 0x30...0x39: digits += 1
                case 0x2B, 0x2D, 0x28, 0x29, 0x2E, 0x20: break
                default: return false
                }
            }
            return (4...15).contains(digits)
        }
    }

    // MARK: Splitting

    @inline(__always) private func split(_ place: inout Bytes, _ end: Bytes, _ lines: inout Int) -> Bool {
        let limit = place + Self.longest
        var pen = Pen(place: scratch)
        var column = 0
        while column < columnCount {
            let field = fields + column
            if hasQuotes, place.pointee == quote {
                guard quoted(&place, min(end, limit), field, &pen, &lines) else { return false }
            } else {
                guard bare(&place, min(end, limit), field, &pen) else { return false }
            }
            column &+= 1
            if place.pointee == delimiter, place < end {
                place += 1
                continue
            }
            if place < end, place.pointee == 0x0D {
                // One without a line feed is a fault behind a quote.
                guard place[1] == 0x0A, place + 1 < end else { return false }
                place += 1
            }
            guard place >= end || place.pointee == 0x0A else { return false }
            if place < end { place += 1 }
            return column == columnCount
        }
        return false
    }

    /// Marks what ends plain text in a field: what ends it in JSON, and the delimiter.
    @inline(__always) private func plainEnd(_ place: Bytes) -> Bytes {
        var place = place
        while true {
            let word = Word.load(place)
            // The lower mark of the two is exact, because each one's lowest is.
            let stops = Word.stops(in: word) | Word.marks(of: delimiter, in: word)
            if stops != 0 { return place + stops.trailingZeroBitCount &>> 3 }
            place += 8
        }
    }

    @inline(__always) private func bare(
        _ place: inout Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: inout Pen
    ) -> Bool {
        let start = place
        place = plainEnd(place)
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        if place.pointee != delimiter {
            guard bareRest(&place, limit, field) else { return false }
        }
        // A return before the line feed belongs to the line end.
        field.pointee.text = Stretch(start, place - start)
        return finish(field, &pen)
    }

    @inline(never) private func bareRest(
        _ place: inout Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>
    ) -> Bool {
        while place < limit {
            let byte = place.pointee
            if byte == delimiter || byte == 0x0A || byte == 0x0D && place[1] == 0x0A { return true }
            if byte >= 0x80 {
                let length = place.sequenceLength
                guard length > 0 else { return false }
                place += length
                field.pointee.isASCII = false
            } else {
                if byte == 0 || byte == unusual { return false }
                if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
                place += 1
            }
            place = plainEnd(place)
        }
        return place == limit
    }

    @inline(__always) private func quoted(
        _ place: inout Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: inout Pen,
        _ lines: inout Int
    ) -> Bool {
        place += 1
        let start = place
        if quote == 0x22 { place = place.endOfPlainText }
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        var hasDoubled = false
        if place >= limit || place.pointee != quote || quote != 0x22 || place[1] == quote {
            guard quotedRest(&place, limit, field, &hasDoubled, &lines) else { return false }
        }
        field.pointee.text = Stretch(start, place - start)
        place += 1
        // Behind the quote stands the delimiter or the line end, or it is a fault.
        guard place.pointee == delimiter || place.pointee == 0x0A || place.pointee == 0x0D || place == limit else {
            return false
        }
        if hasDoubled { single(field, &pen) }
        return finish(field, &pen)
    }

    @inline(never) private func quotedRest(
        _ place: inout Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ hasDoubled: inout Bool,
        _ lines: inout Int
    ) -> Bool {
        while place < limit {
            let byte = place.pointee
            if byte == quote {
                guard place + 1 < limit, place[1] == quote else { return true }
                hasDoubled = true
                if quote == 0x22 { field.pointee.isEscaped = true }
                place += 2
            } else if byte >= 0x80 {
                let length = place.sequenceLength
                guard length > 0 else { return false }
                place += length
                field.pointee.isASCII = false
            } else {
                if byte == 0x0A { lines += 1 }
                if byte == 0 || byte == unusual { return false }
                if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
                place += 1
            }
            if quote == 0x22 { place = place.endOfPlainText }
        }
        return false
    }

    /// Takes every other quote out. A row's fields fit the scratch, because each byte of the row is written there at most
    /// once here and at most six times in ``finish(_:_:)``, and rows are bounded; so it holds seven times the row.
    private func single(_ field: UnsafeMutablePointer<ValueView>, _ pen: inout Pen) {
        let text = field.pointee.text
        let start = pen.place
        var index = 0
        while index < text.count {
            pen.put(text[index])
            index += text[index] == quote ? 2 : 1
        }
        field.pointee.text = Stretch(Bytes(start), pen.place - start)
    }

    /// Takes white space off both ends, and writes a text that needs escapes as JSON writes it.
    @inline(__always) private func finish(_ field: UnsafeMutablePointer<ValueView>, _ pen: inout Pen) -> Bool {
        let text = field.pointee.text
        guard text.count > 0 else { return true }
        let (first, last) = (text[0], text[text.count - 1])
        if first &- 0x21 >= 0x5E || last &- 0x21 >= 0x5E {
            guard trim(field) else { return false }
        }
        if field.pointee.isEscaped { escape(field, &pen) }
        return true
    }

    /// Takes blanks off; false where beyond ASCII nobody here can tell white space.
    @inline(never) private func trim(_ field: UnsafeMutablePointer<ValueView>) -> Bool {
        var (start, count) = (field.pointee.text.start, field.pointee.text.count)
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }
        while count > 0, isBlank(start[0]) { (start, count) = (start + 1, count - 1) }
        while count > 0, isBlank(start[count - 1]) { count -= 1 }
        field.pointee.text = Stretch(start, count)
        guard count > 0, !field.pointee.isASCII else { return true }
        // White space beyond ASCII begins with one of four bytes. A mark that joins a blank before it begins beyond ASCII
        // too, and only where a blank stands before it is that so.
        func mayBlank(_ byte: UInt8) -> Bool { byte == 0xC2 || byte &- 0xE1 < 3 }
        if mayBlank(start[0]) { return false }
        var index = count - 1
        while index > 0, start[index] >= 0x80 {
            if mayBlank(start[index]) { return false }
            index -= 1
        }
        return index == count - 1 || !isBlank(start[index])
    }

    private func escape(_ field: UnsafeMutablePointer<ValueView>, _ pen: inout Pen) {
        let text = field.pointee.text
        let start = pen.place
        for index in 0..<text.count {
            let byte = text[index]
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C else {
                pen.put(byte)
                continue
            }
            pen.put(0x5C)
            switch byte {
            case 0x08: pen.put(UInt8(ascii: "b"))
            case 0x09: pen.put(UInt8(ascii: "t"))
            case 0x0A: pen.put(UInt8(ascii: "n"))
            case 0x0C: pen.put(UInt8(ascii: "f"))
            case 0x0D: pen.put(UInt8(ascii: "r"))
            case 0x22, 0x5C: pen.put(byte)
            default:
                for digit in [
                    0x75, 0x30, 0x30, 0x30 + (byte >> 4), byte & 15 < 10 ? 0x30 + (byte & 15) : 0x57 + (byte & 15),
                ] {
                    pen.put(digit)
                }
            }
        }
        field.pointee.text = Stretch(Bytes(start), pen.place - start)
    }
}
