import PatchbayModel
import Testing

@testable import PatchbayAdapterKit

@Suite("Times, instants and words in fields") struct FieldTextTests {
    @Test(arguments: [
        ("13:05", "13:05"), ("1:05", "01:05"), ("13:05:00", "13:05"), ("13:05:59", "13:05 cut"), ("1:05 AM", "01:05"),
        ("1:05 pm", "13:05"), ("12:00 AM", "00:00"), ("12:00:00 PM", "12:00"), ("11:59:30 PM", "23:59 cut"),
        (" 13:05 ", "13:05"), ("24:00", nil), ("13:60", nil), ("13:05:60", nil), ("13:05:5", nil), ("13:5", nil),
        ("0:05 AM", nil), ("13:05 PM", nil), ("1:05 XM", nil), ("1:05 PM GMT", nil), ("13", nil), ("13:05:00.5", nil),
        ("13:05:", nil), ("-1:05", nil), ("٣:05", nil), ("", nil),
    ]) func `a time of day is read to the minute, and says what was cut`(_ text: String, _ expected: String?) {
        #expect(FileTime(text).map { "\($0.time.text)\($0.isCut ? " cut" : "")" } == expected)
    }

    @Test(arguments: [
        ("03/09/2031 13:05:00 GMT", "2031-03-09T13:05:00Z"), ("03/09/2031 1:05 PM GMT", "2031-03-09T13:05:00Z"),
        ("2031-03-09T13:05:00 GMT", "2031-03-09T13:05:00Z"), ("03/09/2031 13:05:00", "2031-03-09T19:05:00Z"),
        ("03/09/2031 13:05:00 CET", nil), ("03/09/2031 13:05:00GMT", nil), ("GMT", nil), (" GMT", nil),
    ]) func `an instant with GMT behind it is one in UTC`(_ text: String, _ instant: String?) {
        #expect(FileMoment(text, forms: [.american], zone: "-06:00")?.timestamp.text == instant)
    }

    @Test(arguments: [["a", "\u{301}c"], ["red", "\u{200D}blue"], ["\u{301}", "b"], ["a", "b \u{301}"]])
    func `words with marks that join what is before them come back`(_ words: [String]) throws {
        let forms = FieldForms()
        let text = try #require(forms.joined(words))
        #expect(forms.words(of: text).map { Array($0.utf8) } == words.map { Array($0.utf8) })
        #expect(AttributeValue(text: text, as: .choices) == .choices(words))
        #expect(forms.joined([text]) == nil)
    }

    @Test(arguments: ["\\\u{301}", "a\\\\\u{301}"])
    func `a sign that is written twice is so before a mark that joins it`(_ text: String) {
        let forms = FieldForms(doubled: "\\")
        let written = forms.doubled(text)
        #expect(written.utf8.count { $0 == 0x5C } == 2 * text.utf8.count { $0 == 0x5C })
        #expect(Array(forms.undoubled(written).utf8) == Array(text.utf8))
    }

    @Test func `a text that holds more than its type is not taken as it`() {
        let forms = FieldForms(day: .american)
        #expect(forms.exactValue("13:05:00", as: .time) == AttributeValue(text: "13:05", as: .time))
        #expect(forms.exactValue("13:05:30", as: .time) == nil)
        #expect(forms.exactValue("03/09/2031 00:00:00", as: .date) == AttributeValue(text: "2031-03-09", as: .date))
        #expect(forms.exactValue("03/09/2031 00:00:00 GMT", as: .date) == nil)
    }
}
