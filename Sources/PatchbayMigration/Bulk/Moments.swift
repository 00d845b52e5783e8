import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// Days and instants in the fields of a file, read by the rules of ``FieldForms``.
///
/// A result of nil leaves a field to the reader: a text of another form, one with a time zone, one whose day and month
/// cannot be distinguished, and years at both ends of the calendar.
struct Moments: BitwiseCopyable {
    /// The order of the numbers of a day, and the mark between them.
    private struct Order: BitwiseCopyable {
        let year: Int
        let month: Int
        let day: Int
        let mark: UInt8
        /// Whether a day of this form cannot be another day, even if a second form matches.
        let isCertain: Bool

        init(_ form: DayForm, isCertain: Bool = true) {
            (year, month, day) = form.order
            (mark, self.isCertain) = (UInt8(ascii: form.mark), isCertain)
        }
    }

    /// A day, and the second of the day in the file's time zone.
    struct Moment {
        var year: Int
        var month: Int
        var day: Int
        var second = 0

        /// The number of seconds from 1970 to the moment, as if it were in UTC.
        var seconds: Int {
            // Years begin in March, so that a leap day is the last day of its year.
            let (year, month) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
            let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1
            return (days - Self.daysTo1970) * Self.secondsOfDay + second
        }

        /// The moment a number of seconds after 1970, which must be in the supported years.
        init(seconds: Int) {
            let days = seconds / Self.secondsOfDay - (seconds % Self.secondsOfDay < 0 ? 1 : 0)
            second = seconds - days * Self.secondsOfDay
            let all = days + Self.daysTo1970
            let era = all / 146_097
            let dayOfEra = all - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let fromMarch = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
            month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }

        init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

        private static let secondsOfDay = 86_400
        /// The number of days from March 1 of the year 0.
        private static let daysTo1970 = 719_468
    }

    private let orders: Row<Order>
    /// The offset of the file's time zone from UTC, in seconds to the east.
    private let zone: Int

    init(_ forms: FieldForms, in arena: Arena) {
        let others = forms.dayForms.enumerated().map { Order($1, isCertain: $0 == 0) }
        orders = arena.make([Order(.iso)] + others)
        zone = Int(FileMoment.seconds(of: forms.zone))
    }

    /// A day without time, or with midnight. The text is bare.
    func day(_ text: Stretch) -> Moment? { read(text).flatMap { $0.second == 0 ? $0 : nil } }

    /// An instant in seconds since 1970. The text is bare.
    func instant(_ text: Stretch) -> Int? {
        if text.count == 20, Forms.isTimestamp(text) { return Self.seconds(of: text) }
        return read(text).map { $0.seconds - zone }
    }

    /// The seconds since 1970 of an instant as the model writes it, without its fraction.
    static func seconds(of text: Stretch) -> Int? {
        var place = text.start
        guard let (year, _) = number(&place), usualYears.contains(year) else { return nil }
        func two(_ index: Int) -> Int { Int(text[index] &- 0x30) * 10 + Int(text[index + 1] &- 0x30) }
        var moment = Moment(year: year, month: two(5), day: two(8))
        moment.second = two(11) * 3600 + two(14) * 60 + two(17)
        return moment.seconds
    }

    private static let usualYears = 1000...9998

    private func read(_ text: Stretch) -> Moment? {
        guard text.count >= 8, text.count <= 24 else { return nil }
        var place = text.start
        let end = place + text.count
        guard let first = Self.number(&place), place < end else { return nil }
        let mark = place.pointee
        place += 1
        guard let second = Self.number(&place), place < end, place.pointee == mark else { return nil }
        place += 1
        guard let third = Self.number(&place) else { return nil }
        guard var moment = day((first, second, third), mark) else { return nil }
        if place == end { return moment }
        guard place.pointee == 0x20 || place.pointee == 0x54, let clock = Self.clock(place + 1, end) else { return nil }
        moment.second = clock
        return moment
    }

    /// A number and the number of its digits, at most four.
    private typealias Number = (value: Int, digits: Int)

    @inline(__always) private static func number(_ place: inout Bytes) -> Number? {
        var number: Number = (0, 0)
        while place.pointee &- 0x30 < 10 {
            guard number.digits < 4 else { return nil }
            number = (number.value &* 10 &+ Int(place.pointee &- 0x30), number.digits &+ 1)
            place += 1
        }
        return number.digits > 0 ? number : nil
    }

    /// The day in the form in which the numbers are a valid one; nil if two forms give different days.
    private func day(_ numbers: (Number, Number, Number), _ mark: UInt8) -> Moment? {
        var found: Moment?
        func number(_ index: Int) -> Number { index == 0 ? numbers.0 : index == 1 ? numbers.1 : numbers.2 }
        for index in 0..<orders.count {
            let order = orders[index]
            let (year, month, day) = (number(order.year), number(order.month), number(order.day))
            guard order.mark == mark, year.digits == 4, max(month.digits, day.digits) <= 2,
                (1...12).contains(month.value), day.value > 0,
                day.value <= Forms.lastDay(of: month.value, in: year.value)
            else { continue }
            guard Self.usualYears.contains(year.value) else { return nil }
            let moment = Moment(year: year.value, month: month.value, day: day.value)
            if order.isCertain { return moment }
            if let found, found.month != moment.month || found.day != moment.day { return nil }
            found = moment
        }
        return found
    }

    /// The second of the day for a time of 24 or 12 hours.
    private static func clock(_ start: Bytes, _ end: Bytes) -> Int? {
        var place = start
        guard let hours = number(&place), hours.digits <= 2, place < end, place.pointee == 0x3A else { return nil }
        place += 1
        guard let minutes = number(&place), minutes.digits == 2, minutes.value < 60 else { return nil }
        var seconds: Number?
        if place < end, place.pointee == 0x3A {
            place += 1
            guard let number = number(&place), number.digits == 2, number.value < 60 else { return nil }
            seconds = number
        }
        var hour = hours.value
        if place == end {
            guard hour < 24, seconds != nil else { return nil }
        } else {
            // `AM` or `PM` in upper or lower case.
            guard end - place == 3, place.pointee == 0x20, place[2] | 0x20 == 0x6D, (1...12).contains(hour) else {
                return nil
            }
            switch place[1] | 0x20 {
            case 0x61: hour %= 12
            case 0x70: hour = hour % 12 + 12
            default: return nil
            }
        }
        return hour * 3600 + minutes.value * 60 + (seconds?.value ?? 0)
    }
}

extension Pen {
    /// Writes a day as the model does.
    mutating func put(day moment: Moments.Moment) {
        put(digits: moment.year, 4)
        put(0x2D)
        put(digits: moment.month, 2)
        put(0x2D)
        put(digits: moment.day, 2)
    }

    /// Writes an instant as the model does; `seconds` are since 1970.
    mutating func put(instant seconds: Int) {
        let moment = Moments.Moment(seconds: seconds)
        put(day: moment)
        put(0x54)
        put(digits: moment.second / 3600, 2)
        put(0x3A)
        put(digits: moment.second / 60 % 60, 2)
        put(0x3A)
        put(digits: moment.second % 60, 2)
        put(0x5A)
    }

    private mutating func put(digits number: Int, _ count: Int) {
        var rest = number
        for index in stride(from: count - 1, through: 0, by: -1) {
            place[index] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        place += count
    }
}
