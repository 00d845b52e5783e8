import PatchbayJSON
import Testing

@Suite("The line splitter")
struct LineSplitterTests {
    /// The result for one line.
    private struct Seen: Equatable {
        let number: Int
        let offset: Int
        let text: String?
        let tooLong: Int?
    }

    private static let tricky =
        "one\r\ntwo\n\n\r\nfour\rfive\n\r\r\nsixteen letters!\n16 letters, sure\r\nlong long long long\nlast"

    @Test func `returns lines with number and offset and without line ends`() {
        let seen = split(Array(Self.tricky.utf8), into: [1000], limit: 16)
        #expect(seen.map(\.number) == Array(1...10))
        #expect(seen.map(\.offset) == [0, 5, 9, 10, 12, 22, 25, 42, 60, 80])
        #expect(
            seen.map(\.text) == [
                "one", "two", "", "", "four\rfive", "\r", "sixteen letters!", "16 letters, sure", nil, "last",
            ]
        )
    }

    @Test(arguments: [1, 4, 16, 100])
    func `returns the same lines for any split into chunks`(limit: Int) {
        let bytes = Array(Self.tricky.utf8)
        let whole = split(bytes, into: [bytes.count], limit: limit)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(split(bytes, into: [first, second - first], limit: limit) == whole)
            }
        }
        #expect(split(bytes, into: Array(repeating: 1, count: bytes.count), limit: limit) == whole)
    }

    @Test func `skips a line over the limit and reports its length`() {
        let text = "short\n" + String(repeating: "x", count: 1000) + "\r\nshort\n" + String(repeating: "y", count: 11)
        for size in [1, 7, 2000] {
            let seen = split(Array(text.utf8), into: Array(repeating: size, count: text.utf8.count / size), limit: 10)
            #expect(seen.map(\.text) == ["short", nil, "short", nil])
            #expect(seen.map(\.tooLong) == [nil, 1000, nil, 11])
            #expect(seen.map(\.offset) == [0, 6, 1008, 1014])
        }
    }

    @Test(arguments: [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\nb", 2), ("\r\n", 1)])
    func `a final line end starts no new line`(text: String, count: Int) {
        #expect(split(Array(text.utf8), into: [1], limit: 10).count == count)
    }

    @Test func `describes place, problem and remedy in the finding`() {
        var splitter = LineSplitter(maximumLength: 3)
        splitter.append(Array("ok\nsecret\n".utf8))
        _ = splitter.next()
        guard case .failure(let finding) = splitter.next() else {
            Issue.record("the line is over the limit")
            return
        }
        #expect(finding.description == "line 2: 6 bytes, the limit is 3. Split the record, or raise the limit.")
    }

    @Test func `accepts a chunk before the previous one is consumed`() {
        var splitter = LineSplitter()
        for chunk in ["a\nb", "c\n", "d"] { splitter.append(Array(chunk.utf8)) }
        splitter.finish()
        var texts: [String] = []
        while let line = splitter.next() {
            texts.append(String(decoding: (try? line.get().bytes) ?? [], as: UTF8.self))
        }
        #expect(texts == ["a", "bc", "d"])
    }

    /// Appends `bytes` in chunks of these sizes and the rest as one more chunk.
    private func split(_ bytes: [UInt8], into sizes: [Int], limit: Int) -> [Seen] {
        var splitter = LineSplitter(maximumLength: limit)
        var seen: [Seen] = []
        func drain() {
            while let line = splitter.next() {
                switch line {
                case .success(let line):
                    let text = String(decoding: line.bytes, as: UTF8.self)
                    seen.append(Seen(number: line.number, offset: line.offset, text: text, tooLong: nil))
                case .failure(let finding):
                    seen.append(
                        Seen(number: finding.number, offset: finding.offset, text: nil, tooLong: finding.length)
                    )
                }
            }
        }
        var rest = bytes[...]
        for size in sizes + [bytes.count] {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            drain()
        }
        splitter.finish()
        drain()
        return seen
    }
}
