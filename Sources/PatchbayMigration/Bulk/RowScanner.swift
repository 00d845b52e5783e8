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
        /// The column's name in the header, as ``mayName(_:_:)`` takes it.
        var header: Stretch
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
                isRequired: column.isRequired,
                header: arena.text(Self.plain(column.header))
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
    static let longest = 16 << 10

    /// A column's name without the signs that don't count in it, in lower case.
    private static func plain(_ name: String) -> String {
        String(decoding: name.lowercased().utf8.filter { !isPassed($0) }, as: UTF8.self)
    }

    /// Whether a byte may be one that does not count in a column's name.
    @inline(__always) private static func isPassed(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x2D || byte == 0x5F || byte &- 0x09 < 5
    }

    /// Whether a text may be another spelling of a name, by ``ColumnName``: most are not by their first byte.
    ///
    /// Beyond ASCII the reader tells, and so it does of a text that begins with a byte-order mark.
    @inline(__always) private static func mayName(_ text: Stretch, _ name: Stretch) -> Bool {
        var place = 0
        for index in 0..<text.count {
            let byte = text[index]
            if isPassed(byte) { continue }
            guard place < name.count else { return byte >= 0x80 }
            let other = name[place]
            if (byte | other) >= 0x80 { return true }
            guard byte == other || byte &- 0x41 < 26 && byte | 0x20 == other else { return false }
            place &+= 1
        }
        return place == name.count || name[place] >= 0x80
    }

    /// Where a row ends: behind its line end, or at the end if it has none; and its line feeds, with that.
    struct Extent {
        var end: Bytes
        var lines: Int
    }

    /// Reads the row at the cursor; nil for one that is not plain. `end` is behind a line feed or before the padding.
    @inline(__always) func scan(_ place: Bytes, _ end: Bytes, _ view: inout RecordView) -> Extent? {
        view.clear()
        // What may be a byte-order mark is for the reader.
        guard place.pointee != 0xEF, let extent = split(place, end) else { return nil }
        var identifiers = 0
        for index in 0..<steps.count {
            let step = steps.place(index)
            let value = fields + step.pointee.column
            guard value.pointee.text.count > 0 else {
                if step.pointee.isRequired { return nil }
                continue
            }
            if step.pointee.isRequired,
                value.pointee.isEscaped || Self.mayName(value.pointee.text, step.pointee.header)
            {
                return nil
            }
            switch step.pointee.work {
            case .identifier:
                guard identifiers < RecordView.identifierLimit, Self.fits(value, step.pointee.form) else { return nil }
                let identifier = view.identifiers + identifiers
                identifier.pointee.kind = step.pointee.index
                identifier.pointee.value = value.pointee
                identifier.pointee.isEmail = step.pointee.form == .email
                identifiers &+= 1
            case .attribute:
                guard let attribute = view.attribute(step.pointee.index) else { return nil }
                attribute.pointee = value.pointee
                let type = step.pointee.type
                guard type == .string || attribute.pointee.convert(to: type) else { return nil }
            case .locale: (view.hasLocale, view.locale) = (true, value.pointee.text)
            case .timeZone:
                guard memchr(value.pointee.text.start, 0x2F, value.pointee.text.count) != nil else { return nil }
                (view.hasTimeZone, view.timeZone) = (true, value.pointee.text)
            case .unusual: return nil
            }
        }
        view.identifierCount = identifiers
        // A row of very many lines is told of.
        return extent.lines <= ContactFileReader.usualLines ? extent : nil
    }

    @inline(__always) private static func fits(_ value: UnsafeMutablePointer<ValueView>, _ form: Form) -> Bool {
        switch form {
        case .any: true
        case .email: value.pointee.isBare && Forms.isAddress(value.pointee.text)
        case .phone: value.pointee.isBare && Forms.isPhone(value.pointee.text)
        }
    }

    // MARK: Splitting

    /// How far a row was split.
    private struct Cut {
        /// The end of a field, or behind its quote; nil for one that is not plain.
        var place: Bytes?
        /// Behind what was written to the scratch.
        var pen: Pen
        /// Line feeds in the field.
        var lines = 0

        /// The same with what finishing the field gave: nil is for a field that is not plain.
        @inline(__always) func finished(by pen: Pen?) -> Cut {
            var cut = self
            if let pen { cut.pen = pen } else { cut.place = nil }
            return cut
        }
    }

    @inline(__always) private func split(_ start: Bytes, _ end: Bytes) -> Extent? {
        let limit = min(end, start + Self.longest)
        var (place, pen, lines, column) = (start, Pen(place: scratch), 1, 0)
        while true {
            let field = fields + column
            let cut =
                hasQuotes && place.pointee == quote
                ? quoted(place, limit, field, pen) : bare(place, limit, field, pen)
            guard let next = cut.place else { return nil }
            (place, pen, lines) = (next, cut.pen, lines &+ cut.lines)
            column &+= 1
            if place.pointee == delimiter, place < end {
                guard column < columnCount else { return nil }
                place += 1
                continue
            }
            if place < end, place.pointee == 0x0D {
                // One without a line feed is a fault behind a quote.
                guard place[1] == 0x0A, place + 1 < end else { return nil }
                place += 1
            }
            guard place >= end || place.pointee == 0x0A, column == columnCount else { return nil }
            return Extent(end: place < end ? place + 1 : place, lines: lines)
        }
    }

    /// The first place from here that ends plain text in a field: what ends it in JSON, or the delimiter.
    @inline(__always) private func plainEnd(_ start: Bytes) -> Bytes {
        let delimiter = Int8(truncatingIfNeeded: delimiter)
        var place = start
        while true {
            let block = Block.load(place)
            let first = Block.first(Block.stops(in: block) .| Block.marks(of: delimiter, in: block))
            place += first
            if first < Block.count { return place }
        }
    }

    @inline(__always) private func bare(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: Pen
    ) -> Cut {
        var place = plainEnd(start)
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        // A return before the line feed belongs to the line end.
        let byte = place.pointee
        if byte != delimiter, byte != 0x0A, byte != 0x0D || place[1] != 0x0A {
            guard let end = bareRest(place, limit, field) else { return Cut(place: nil, pen: pen) }
            place = end
        }
        field.pointee.text = Stretch(start, place - start)
        return Cut(place: place, pen: pen).finished(by: finish(field, pen))
    }

    @inline(never) private func bareRest(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>
    ) -> Bytes? {
        var place = start
        while place < limit {
            let byte = place.pointee
            if byte == delimiter || byte == 0x0A || byte == 0x0D && place[1] == 0x0A { return place }
            if byte >= 0x80 {
                let length = place.sequenceLength
                guard length > 0 else { return nil }
                place += length
                field.pointee.isASCII = false
            } else {
                if byte == 0 || byte == unusual { return nil }
                if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
                place += 1
            }
            place = plainEnd(place)
        }
        return place == limit ? place : nil
    }

    private func quoted(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: Pen
    ) -> Cut {
        let text = start + 1
        var cut = Cut(place: nil, pen: pen)
        var place = quote == 0x22 ? text.endOfPlainText : text
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        var hasDoubled = false
        if place >= limit || place.pointee != quote || quote != 0x22 || place[1] == quote {
            while true {
                guard place < limit else { return cut }
                let byte = place.pointee
                if byte == quote {
                    guard place + 1 < limit, place[1] == quote else { break }
                    hasDoubled = true
                    if quote == 0x22 { field.pointee.isEscaped = true }
                    place += 2
                } else if byte >= 0x80 {
                    let length = place.sequenceLength
                    guard length > 0 else { return cut }
                    place += length
                    field.pointee.isASCII = false
                } else {
                    if byte == 0x0A { cut.lines += 1 }
                    if byte == 0 || byte == unusual { return cut }
                    if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
                    place += 1
                }
                if quote == 0x22 { place = place.endOfPlainText }
            }
        }
        field.pointee.text = Stretch(text, place - text)
        place += 1
        // Behind the quote stands the delimiter or the line end, or it is a fault.
        guard place.pointee == delimiter || place.pointee == 0x0A || place.pointee == 0x0D || place == limit else {
            return cut
        }
        if hasDoubled { cut.pen = single(field, cut.pen) }
        cut.place = place
        return cut.finished(by: finish(field, cut.pen))
    }

    /// Takes every other quote out. A row's fields fit the scratch, because each byte of the row is written there at most
    /// once here and at most six times in ``finish(_:_:)``, and rows are bounded; so it holds seven times the row.
    private func single(_ field: UnsafeMutablePointer<ValueView>, _ start: Pen) -> Pen {
        let text = field.pointee.text
        var (pen, index) = (start, 0)
        while index < text.count {
            pen.put(text[index])
            index += text[index] == quote ? 2 : 1
        }
        field.pointee.text = Stretch(Bytes(start.place), pen.place - start.place)
        return pen
    }

    /// Takes white space off both ends, and writes a text that needs escapes as JSON writes it; nil where nobody here can
    /// tell.
    @inline(__always) private func finish(_ field: UnsafeMutablePointer<ValueView>, _ pen: Pen) -> Pen? {
        let text = field.pointee.text
        guard text.count > 0 else { return pen }
        let (first, last) = (text[0], text[text.count &- 1])
        if first &- 0x21 >= 0x5E || last &- 0x21 >= 0x5E {
            guard trim(field) else { return nil }
        }
        return field.pointee.isEscaped ? escape(field, pen) : pen
    }

    /// Takes blanks off; false where beyond ASCII nobody here can tell white space.
    @inline(never) private func trim(_ field: UnsafeMutablePointer<ValueView>) -> Bool {
        var (start, count) = (field.pointee.text.start, field.pointee.text.count)
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }
        while count > 0, isBlank(start[0]) { (start, count) = (start + 1, count - 1) }
        while count > 0, isBlank(start[count - 1]) { count -= 1 }
        field.pointee.text = Stretch(start, count)
        guard count > 0, !field.pointee.isASCII else { return true }
        // White space beyond ASCII begins with one of four bytes.
        func mayBlank(_ byte: UInt8) -> Bool { byte == 0xC2 || byte &- 0xE1 < 3 }
        var last = count - 1
        while last > 0, start[last] & 0xC0 == 0x80 { last -= 1 }
        return !mayBlank(start[0]) && !mayBlank(start[last])
    }

    @inline(never) private func escape(_ field: UnsafeMutablePointer<ValueView>, _ start: Pen) -> Pen {
        let text = field.pointee.text
        var pen = start
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
        field.pointee.text = Stretch(Bytes(start.place), pen.place - start.place)
        return pen
    }
}
