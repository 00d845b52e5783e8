import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayModel

/// Formats values for the vendor's XML. All values are text, and the forms differ from those of a device.
enum ServerForm: Sendable {
    typealias Outcome = Result<String, ServerProblem>

    /// Returns the text of a value for a column. Without a description of the column, the value's own type determines
    /// it.
    static func text(_ value: AttributeValue, _ column: Column?, _ settings: AcousticServerSettings) -> Outcome {
        guard let column else { return untyped(value, settings) }
        switch column.type {
        case .text, .email, .phoneNumber: return string(value)
        case .yesNo: return flag(value)
        case .numeric: return number(value)
        case .date: return date(value)
        case .time: return time(value)
        case .country: return country(value, settings)
        case .selection: return selection(value, column)
        case .smsPhoneNumber: return digits(value)
        case .timestamp: return timestamp(value)
        case .multiSelection: return choices(value, column)
        case .segmenting, .system, .smsOptIn, .smsOptOutDate, .syncId:
            return .failure(ServerProblem(ServerFinding.columnUnwritable))
        }
    }

    private static func untyped(_ value: AttributeValue, _ settings: AcousticServerSettings) -> Outcome {
        switch value {
        case .string: string(value)
        case .boolean: flag(value)
        case .integer, .decimal: number(value)
        case .date: date(value)
        case .time: time(value)
        case .timestamp: timestamp(value)
        case .country: country(value, settings)
        case .choices: choices(value, nil)
        case .list, .object: .failure(ServerProblem(ServerFinding.valueNested))
        }
    }

    private static func string(_ value: AttributeValue) -> Outcome {
        guard case .string(let text) = value else { return mismatch(value) }
        guard text.utf16.count <= Form.textLimit else {
            return .failure(ServerProblem(ServerFinding.valueLong, "\(text.utf16.count) characters"))
        }
        return XMLTree.canHold(text) ? .success(text) : .failure(ServerProblem(ServerFinding.valueControl))
    }

    private static func flag(_ value: AttributeValue) -> Outcome {
        guard case .boolean(let flag) = value else { return mismatch(value) }
        return .success(flag ? "Yes" : "No")
    }

    private static func number(_ value: AttributeValue) -> Outcome {
        let text: String
        switch value {
        case .integer(let number): text = String(number)
        case .decimal(let number): text = WireValue.written(number)
        default: return mismatch(value)
        }
        let digits = text.utf8.count { (0x30...0x39).contains($0) }
        guard digits <= Form.digitLimit else {
            return .failure(ServerProblem(ServerFinding.valueLong, "\(digits) digits"))
        }
        return .success(text)
    }

    private static func date(_ value: AttributeValue) -> Outcome {
        guard case .date(let date)? = value.converted(to: .date) else { return mismatch(value) }
        return .success(day(date))
    }

    /// `03/09/2031`: month, day, year.
    private static func day(_ date: CalendarDate) -> String {
        let text = date.text
        return "\(text.dropFirst(5).prefix(2))/\(text.suffix(2))/\(text.prefix(4))"
    }

    private static func time(_ value: AttributeValue) -> Outcome {
        guard case .time(let time)? = value.converted(to: .time) else { return mismatch(value) }
        return .success("\(time.text):00")
    }

    /// Formats an instant as `03/09/2031 07:05:11` in UTC, without fractions of a second.
    private static func timestamp(_ value: AttributeValue) -> Outcome {
        guard case .timestamp(let instant) = value else { return mismatch(value) }
        return .success("\(day(instant.date)) \(instant.text(fractionDigits: 0).dropFirst(11).prefix(8))")
    }

    private static func country(_ value: AttributeValue, _ settings: AcousticServerSettings) -> Outcome {
        guard case .country(let country)? = value.converted(to: .country) else { return mismatch(value) }
        return .success(settings.countries == .lower ? country.text.lowercased() : country.text.uppercased())
    }

    private static func selection(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .string(let word) = value else { return mismatch(value) }
        return column.allows(word) ? .success(word) : .failure(ServerProblem(ServerFinding.valueChoice))
    }

    private static func choices(_ value: AttributeValue, _ column: Column?) -> Outcome {
        guard case .choices(let words)? = value.converted(to: .choices) else { return mismatch(value) }
        let isFit = words.allSatisfy { word in
            !word.isEmpty && word.trimmed == word && !word.unicodeScalars.contains(";")
                && word.utf16.count <= Form.choiceLimit && XMLTree.canHold(word)
                && column.map { $0.allows(word) } ?? true
        }
        guard isFit, !words.isEmpty else { return .failure(ServerProblem(ServerFinding.valueChoice)) }
        return .success(words.joined(separator: ";"))
    }

    private static func digits(_ value: AttributeValue) -> Outcome {
        guard case .string(let text) = value else { return mismatch(value) }
        guard let number = text.consentNumber else { return .failure(ServerProblem(ServerFinding.valuePhone)) }
        return .success(number)
    }

    private static func mismatch(_ value: AttributeValue) -> Outcome {
        switch value {
        case .list, .object: .failure(ServerProblem(ServerFinding.valueNested))
        default: .failure(ServerProblem(ServerFinding.valueType, value.type.rawValue))
        }
    }
}

/// The reason why a value has no form for its column.
struct ServerProblem: Error {
    /// The finding to report.
    var row: FindingRow
    /// Sizes and names, never the value.
    var detail: String?

    init(_ row: FindingRow, _ detail: String? = nil) { (self.row, self.detail) = (row, detail) }
}
