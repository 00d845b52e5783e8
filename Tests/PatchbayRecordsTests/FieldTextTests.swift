import PatchbayModel
import PatchbayAdapterKit
import Testing

@testable import PatchbayRecords

@Suite("Times, instants and words in fields") struct FieldTextTests {
    @Test(arguments: [
        ("13:05", "13:05"), ("1:05", "01:05"), ("13:05:00", "13:05"), ("13:05:59", "13:05 cut"), ("1:05 AM", "01:05"),
        ("1:05 pm", "13:05"), ("12:00 AM", "00:00"), ("12:00:00 PM", "12:00"), ("11:59:30 PM", "23:59 cut"),
        (" 13:05 ", "13:05"), ("24:00", nil), ("13:60", nil), ("13:05:60", nil), ("13:05:5", nil), ("13:5", nil),
        ("0:05 AM", nil), ("13:05 PM", nil), ("1:05 XM", nil), ("1:05 PM GMT", nil), ("13", nil), ("13:05:00.5", nil),
        ("13:05:", nil), ("-1:05", nil), ("٣:05", nil), ("", nil),
    ]) func `reads a time of day to the minute and reports cut seconds`(_ text: String, _ expected: String?) {
        #expect(FileTime(text).map { "\($0.time.text)\($0.isCut ? " cut" : "")" } == expected)
    }

    @Test(arguments: [
        ("03/09/2031 13:05:00 GMT", "2031-03-09T13:05:00Z"), ("03/09/2031 1:05 PM GMT", "2031-03-09T13:05:00Z"),
        ("2031-03-09T13:05:00 GMT", "2031-03-09T13:05:00Z"), ("03/09/2031 13:05:00", "2031-03-09T19:05:00Z"),
        ("03/09/2031 13:05:00 CET", nil), ("03/09/2031 13:05:00GMT", nil), ("GMT", nil), (" GMT", nil),
    ]) func `reads an instant with the suffix GMT as UTC`(_ text: String, _ instant: String?) {
        #expect(FileMoment(text, forms: [.american], zone: "-06:00")?.timestamp.text == instant)
    }

    @Test(arguments: [["a", "\u{301}c"], ["red", "\u{200D}blue"], ["\u{301}", "b"], ["a", "b \u{301}"]])
    func `reads back words with combining marks`(_ words: [String]) throws {
        let forms = FieldForms()
        let text = try #require(forms.joined(words))
        #expect(forms.words(of: text).map { Array($0.utf8) } == words.map { Array($0.utf8) })
        #expect(AttributeValue(text: text, as: .choices) == .choices(words))
        #expect(forms.joined([text]) == nil)
    }

    @Test(arguments: ["\\\u{301}", "a\\\\\u{301}"])
    func `doubles a sign before a combining mark`(_ text: String) {
        let forms = FieldForms(doubled: "\\")
        let written = forms.doubled(text)
        #expect(written.utf8.count { $0 == 0x5C } == 2 * text.utf8.count { $0 == 0x5C })
        #expect(Array(forms.undoubled(written).utf8) == Array(text.utf8))
    }

    @Test func `refuses text with more than its type can hold`() {
        let forms = FieldForms(day: .american)
        #expect(forms.exactValue("13:05:00", as: .time) == AttributeValue(text: "13:05", as: .time))
        #expect(forms.exactValue("13:05:30", as: .time) == nil)
        #expect(forms.exactValue("03/09/2031 00:00:00", as: .date) == AttributeValue(text: "2031-03-09", as: .date))
        #expect(forms.exactValue("03/09/2031 00:00:00 GMT", as: .date) == nil)
    }

    @Test(arguments: [
        ("23/05/1989", ["1989-05-23"]), ("05/23/1989", ["1989-05-23"]), ("05/06/1989", ["1989-05-06", "1989-06-05"]),
        ("06/06/1989", ["1989-06-06"]), ("5/6/1989 10:00:00 AM", ["1989-05-06", "1989-06-05"]),
        ("1989-5-6", ["1989-05-06"]), ("1989-05-06", ["1989-05-06"]),
        ("13.05.1989", []),
    ]) func `a date whose day and month cannot be distinguished has two readings`(_ text: String, _ days: [String]) {
        let forms = FieldForms(alsoRead: [.slashed, .american, .european])
        #expect(forms.readings(text).map(\.day.text) == days)
        #expect((forms.moment(text) == nil) == (days.count != 1))
    }

    @Test(arguments: [(DayForm.american, "1989-05-06"), (.european, "1989-06-05")])
    func `a configured date form excludes the other one`(_ form: DayForm, _ day: String) {
        let forms = FieldForms(day: form, alsoRead: [.slashed, .american, .european])
        #expect(forms.moment("05/06/1989")?.day.text == day)
        #expect(forms.moment(form == .american ? "23/05/1989" : "05/23/1989") == nil)
    }

    @Test(
        arguments: [
            ("k-1", "k-1", nil), ("\u{200B}k-1\u{FEFF}", "k-1", nil), ("=\"0012\"", "0012", nil),
            ("'0012", "0012", nil),
            ("'bo@x.example'", "bo@x.example", nil), ("12E4", "12E4", nil), ("5e3f-11", "5e3f-11", nil),
            ("Ω-1", "Ω-1", nil),
            ("a\u{AD}b", "a\u{AD}b", .invisible), ("a\u{1F}b", "a\u{1F}b", .invisible),
            ("1.23457E+12", "1.23457E+12", .scientific), ("1,2e+05", "1,2e+05", .scientific),
            ("4E+11", "4E+11", .scientific),
            ("NULL", "NULL", .placeholder), ("#N/A", "#N/A", .placeholder), ("#REF!", "#REF!", .placeholder),
            ("nan", "nan", .placeholder), ("#NV", "#NV", .placeholder), ("#Н/Д", "#Н/Д", .placeholder),
            ("#42", "#42", nil),
            ("#maria", "#maria", nil),
            ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000", .placeholder),
            ("########", "########", .noLetters), ("-", "-", .noLetters),
        ] as [(String, String, IdentifierText.Damage?)]
    )
    func `trims an identifier at its ends and recognizes a damaged one`(
        _ text: String,
        _ value: String,
        _ damage: IdentifierText.Damage?
    ) {
        let read = IdentifierText(text)
        #expect(read.value == value)
        #expect(read.damage == damage)
    }

    @Test(arguments: [
        ("+49 (0) 151 0000-0003", "4915100000003", "+4915100000003"), ("0049 (0)30 12345", "493012345", "+493012345"),
        ("49 ( 0 ) 151 1234567", "491511234567", "+491511234567"),
        ("4915100000003.0", "4915100000003", "+4915100000003"),
        ("4915100000003", "4915100000003", "+4915100000003"), ("015100000005", nil, nil), ("(555) 010-0199", nil, nil),
        ("5550100199", "5550100199", nil), ("(+358) 40 1234567", "358401234567", "+358401234567"),
    ]) func `a telephone number is written in a column's form or not at all`(
        _ text: String,
        _ digits: String?,
        _ plus: String?
    ) {
        #expect(PhoneNumber(text).text(in: .digits) == digits)
        #expect(PhoneNumber(text).text(in: .plus) == plus)
    }

    @Test(arguments: [
        ("+49 (0) 151 0000-0003", "004915100000003"), ("+358 40 1234567", "358401234567"),
    ]) func `all spellings of a telephone number have one key`(_ one: String, _ other: String) {
        #expect(Identifier(.phone, one).addressKey == Identifier(.phone, other).addressKey)
    }
}
