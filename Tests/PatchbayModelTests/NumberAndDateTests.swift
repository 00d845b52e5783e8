import PatchbayJSON
import Testing

@testable import PatchbayModel

@Suite("Decimals") struct DecimalTests {
    @Test(arguments: [
        (text: "49.90", plain: "49.90" as String?), ("-0.0", "-0.0"), ("1200", "1200"), ("1e3", "1000"),
        ("1.50E1", "15.0"),
        ("1.5e-3", "0.0015"), ("-12e-1", "-1.2"), ("0e5", "0"), ("0.00e2", "0"), ("12.34e1", "123.4"),
        ("-0e-2", "-0.00"),
        ("1e400", nil), ("1e-400", nil), ("1e99999999999999999999", nil), ("", nil), ("1.", nil), (".5", nil),
        ("+1", nil),
        ("01", nil), ("1,5", nil), ("NaN", nil), (" 1", nil),
    ])
    func `expands an exponent and changes nothing else`(_ row: (text: String, plain: String?)) {
        #expect(ExactDecimal(text: row.text)?.text == row.plain)
    }

    @Test func `accepts 400 digits and refuses 401`() {
        let digits = String(repeating: "7", count: 400)
        #expect(ExactDecimal(text: digits)?.text == digits)
        #expect(ExactDecimal(text: "-" + digits)?.text == "-" + digits)
        #expect(ExactDecimal(text: "-" + digits.prefix(399) + ".7")?.text == "-" + digits.prefix(399) + ".7")
        #expect(ExactDecimal(text: digits + "7") == nil)
        #expect(ExactDecimal(text: digits.prefix(200) + "." + digits.prefix(201)) == nil)
        #expect(ExactDecimal(text: "1e399")?.text.utf8.count == 400)
    }

    @Test func `decimals with different digits are not equal`() {
        #expect(ExactDecimal(text: "49.90") != ExactDecimal(text: "49.9"))
    }

    @Test(arguments: decimalSums) func `sums are exact`(_ row: (left: String, right: String, sum: String)) throws {
        let left = try #require(ExactDecimal(text: row.left))
        let right = try #require(ExactDecimal(text: row.right))
        #expect(left.adding(right)?.text == row.sum)
        #expect(right.adding(left)?.text == row.sum)
    }

    @Test func `a sum of more than 400 digits is nil`() throws {
        let number = try #require(ExactDecimal(text: String(repeating: "9", count: 400)))
        #expect(number.adding(ExactDecimal(1)) == nil)
    }
}

@Suite("Dates") struct DateTests {
    @Test(arguments: [
        ("0000-01-01", true), ("0000-02-29", true), ("1900-02-29", false), ("2000-02-29", true), ("2028-02-29", true),
        ("2031-02-29", false), ("2031-04-31", false), ("9999-12-31", true), ("10000-01-01", false),
        ("2031-13-01", false),
        ("2031-00-01", false), ("2031-01-00", false), ("2031-1-01", false), ("2031-01-01 ", false),
        ("٢٠٣١-01-01", false),
    ])
    func `reads only existing days`(_ row: (text: String, exists: Bool)) {
        let date = CalendarDate(text: row.text)
        #expect((date != nil) == row.exists)
        #expect(date.map { $0.text == row.text } ?? true)
    }

    @Test func `converts every day of 10,000 years to its number and back`() throws {
        let first = try #require(CalendarDate(year: 0, month: 1, day: 1)).daysSince1970
        let last = try #require(CalendarDate(year: 9999, month: 12, day: 31)).daysSince1970
        #expect(first == -719_528)
        #expect(last == 2_932_896)
        for days in first...last where CalendarDate(daysSince1970: days)?.daysSince1970 != days {
            Issue.record("Day \(days) does not come back.")
        }
        #expect(CalendarDate(daysSince1970: first - 1) == nil)
        #expect(CalendarDate(daysSince1970: last + 1) == nil)
    }

    @Test(arguments: [
        (text: "1970-01-01T00:00:00Z", plain: "1970-01-01T00:00:00Z" as String?),
        ("2031-03-09 07:05:11z", "2031-03-09T07:05:11Z"), ("2031-03-09t07:05:11.5Z", "2031-03-09T07:05:11.5Z"),
        ("2031-03-09T07:05:11.120000000Z", "2031-03-09T07:05:11.12Z"),
        ("2031-03-09T07:05:11.000000001Z", "2031-03-09T07:05:11.000000001Z"),
        ("2031-03-09T00:30:00+05:45", "2031-03-08T18:45:00Z"), ("2030-12-31T23:59:60Z", "2031-01-01T00:00:00Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"), ("2028-02-29T23:00:00-02:00", "2028-03-01T01:00:00Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("0000-01-01T00:00:00+01:00", nil), ("9999-12-31T23:59:59-01:00", nil), ("9999-12-31T23:59:60Z", nil),
        ("2031-03-09T24:00:00Z", nil), ("2031-03-09T07:60:00Z", nil), ("2031-03-09T07:05:61Z", nil),
        ("2031-03-09T07:05:11", nil), ("2031-03-09T07:05:11.Z", nil), ("2031-03-09T07:05:11.1234567890Z", nil),
        ("2031-03-09T07:05:11+0200", nil), ("2031-03-09T07:05:11+24:00", nil), ("2031-03-09", nil), ("", nil),
    ])
    func `reads timestamps as RFC 3339 specifies`(_ row: (text: String, plain: String?)) {
        #expect(Timestamp(text: row.text)?.text == row.plain)
    }

    @Test(arguments: [(0, "07Z"), (1, "07.9Z"), (3, "07.999Z"), (9, "07.999999999Z")])
    func `truncates fraction digits`(_ row: (digits: Int, end: String)) {
        let timestamp = Timestamp(seconds: -53, nanoseconds: 999_999_999)
        #expect(timestamp?.text(fractionDigits: row.digits) == "1969-12-31T23:59:" + row.end)
    }

    @Test func `an instant before 1970 rounds down`() {
        #expect(Instant(milliseconds: -1).text == "1969-12-31T23:59:59.999Z")
        #expect(Instant(milliseconds: -1).seconds == -1)
        #expect(Instant(text: "1969-12-31T23:59:59.9999Z") == Instant(milliseconds: -1))
    }

    @Test func `instant arithmetic saturates`() {
        #expect(Instant(milliseconds: .max) + .seconds(1) == Instant(milliseconds: .max))
        #expect(Instant(milliseconds: .min) + .seconds(-1) == Instant(milliseconds: .min))
        #expect(Instant(milliseconds: .max) - Instant(milliseconds: .min) == .milliseconds(Int64.max))
        #expect(Instant(milliseconds: .min) - Instant(milliseconds: .max) == .milliseconds(Int64.min))
        #expect(Timestamp(Instant(milliseconds: .max)).text.hasPrefix("9999-12-31T23:59:59"))
        #expect(Timestamp(Instant(milliseconds: .min)).text.hasPrefix("0000-01-01T00:00:00"))
    }

    @Test(arguments: [
        ("00:00", true), ("23:59", true), ("24:00", false), ("7:05", false), ("07:60", false), ("07:05:00", false),
    ])
    func `reads times of day as HH:MM`(_ row: (text: String, exists: Bool)) {
        #expect((LocalTime(text: row.text)?.text == row.text) == row.exists)
    }

    @Test(arguments: [0, 1, 3, 16, 17, 40]) func `orders any number of names by their scalars`(_ count: Int) {
        let values = Dictionary(uniqueKeysWithValues: (0..<count).map { (AttributeName(rawValue: "n\($0)é"), $0) })
        let expected = values.keys.sorted {
            $0.rawValue.unicodeScalars.lexicographicallyPrecedes($1.rawValue.unicodeScalars)
        }
        #expect(values.inOrder.map(\.key) == expected)
        #expect(values.inOrder.map(\.value) == expected.map { values[$0] })
    }

    @Test(arguments: [("fi_FI", "fi"), ("pt-BR", "pt"), ("de", "de"), ("", ""), ("_x", ""), ("e\u{301}_x", "e\u{301}")])
    func `reads the language from a locale`(_ row: (locale: String, language: String)) {
        let facts = DeviceFacts(platform: "", platformVersion: "", model: "", locale: row.locale, appVersion: "")
        #expect(facts.language == row.language)
    }
}
