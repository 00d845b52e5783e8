import PatchbayAdapterKit
import PatchbayJSON
import Testing

@Suite("XML") struct XMLTests {
    private func read(_ text: String) -> XMLTree? { XMLTree(parsing: Array(text.utf8)) }

    private func text(_ tree: XMLTree) -> String { String(decoding: tree.bytes, as: UTF8.self) }

    @Test func `reads back a written tree`() {
        let tree = XMLTree(
            "Envelope",
            "",
            [
                XMLTree("A", "a < b & c > d ]]> \"e\" 'f' \r\n\tü😀"), XMLTree("Empty"),
                XMLTree("B", "", [XMLTree("C", "1"), XMLTree("C", "2")]),
            ]
        )
        #expect(XMLTree(parsing: tree.bytes) == tree)
        #expect(tree["B"]?.all("C").map(\.text) == ["1", "2"])
        #expect(text(XMLTree("A", "<&>\r")) == "<A>&lt;&amp;&gt;&#13;</A>")
    }

    @Test func `converts a JSON value to elements`() {
        let json: JSONValue = ["LIST_ID": "7", "COLUMN": [["NAME": "a", "VALUE": 1], ["NAME": "b", "VALUE": nil]]]
        let made = XMLTree.elements("Call", json).map(text)
        #expect(
            made == [
                "<Call><LIST_ID>7</LIST_ID><COLUMN><NAME>a</NAME><VALUE>1</VALUE></COLUMN>"
                    + "<COLUMN><NAME>b</NAME><VALUE/></COLUMN></Call>"
            ]
        )
    }

    @Test func `recognizes text that XML cannot represent and never writes it`() {
        #expect(XMLTree.canHold("a\t\n\r b"))
        for text in ["\u{0}", "\u{1F}", "\u{FFFE}", "a\u{8}"] { #expect(!XMLTree.canHold(text)) }
        #expect(text(XMLTree("A", "x\u{0}y")) == "<A>xy</A>")
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\"?>\n<!-- x --><A/>\n", ""),
        ("<A>a&#65;&#x42;&amp;&lt;&gt;&quot;&apos;</A>", "aAB&<>\"'"),
        ("<A x=\"1\" y='<'></A >", nil), ("<A x = \"1\" y='&'></A >", ""), ("<A>a<![CDATA[<b>&]]>c</A>", "a<b>&c"),
        ("<A>1\r\n2\r3</A>", "1\n2\n3"), ("<A>a<!-- - -->b</A>", "ab"), ("\u{FEFF}<A/>", ""),
    ])
    func `reads elements, attributes and text of a document`(_ document: String, _ expected: String?) {
        #expect(read(document)?.text == expected)
    }

    @Test(arguments: [
        "", " ", "text", "<A>", "<A></B>", "<A/><B/>", "<A>&nbsp;</A>", "<A>&#0;</A>", "<A>&#x110000;</A>",
        "<A>&#;</A>",
        "<!DOCTYPE A [<!ENTITY b \"c\">]><A>&b;</A>", "<A><?php ?></A>", "<A>]]></A>", "<A b></A>", "<A b=c></A>",
        "<1/>", "<A>\u{0}</A>", "<A", "<A b='", "<A><![CDATA[", "<!--", "<A>&amp</A>", "<A>x", "</A>",
        "<A x='1'y='2'/>",
        "<A>&#+5;</A>",
    ])
    func `refuses text that is not a supported document`(_ document: String) {
        #expect(read(document) == nil)
    }

    @Test(arguments: [
        ("<A>\n <B>\n", "it ends too early", 3, 1), ("<A>\n  <B></C></A>", "not well-formed", 2, 9),
        ("<!DOCTYPE A [<!ENTITY b \"c\">]><A/>", "a document type or a declaration, which is not read", 1, 2),
        ("<A>\n&b;</A>", "an entity that XML does not know by itself", 2, 1),
        ("<A><?b?></A>", "a processing instruction, which is not read", 1, 5),
        ("<A><B><C/></B></A>", "more than 2 elements inside each other", 1, 8),
        ("<A><B/><B/><B/><B/></A>", "more than 4 elements", 1, 17),
    ])
    func `reports an error in a document with line and column`(_ text: String, _ why: String, _ line: Int, _ at: Int) {
        var limits = XMLTree.Limits()
        (limits.depth, limits.elements) = (2, 4)
        guard case .failure(let fault) = XMLTree.read(Array(text.utf8), limits: limits) else {
            Issue.record("It was read.")
            return
        }
        #expect(fault.reason == why)
        #expect(XMLTree.place(of: fault.offset, in: Array(text.utf8)) == (line, at))
    }

    @Test func `an element has its position, which equality ignores`() throws {
        let bytes = Array("<A>\n  <B/>\n</A>".utf8)
        let tree = try #require(XMLTree(parsing: bytes))
        #expect(XMLTree.place(of: try #require(tree["B"]).offset, in: bytes) == (2, 3))
        #expect(tree["B"] == XMLTree("B") && Set(tree.children).contains(XMLTree("B")))
    }

    @Test func `limits depth, elements and bytes of a document`() {
        let deep = String(repeating: "<A>", count: 100_000)
        #expect(read(deep + String(repeating: "</A>", count: 100_000)) == nil)
        #expect(read(String(repeating: "<A>", count: 16) + String(repeating: "</A>", count: 16)) != nil)
        var limits = XMLTree.Limits()
        limits.elements = 3
        #expect(XMLTree(parsing: Array("<A><B/><B/></A>".utf8), limits: limits) != nil)
        #expect(XMLTree(parsing: Array("<A><B/><B/><B/></A>".utf8), limits: limits) == nil)
        limits.bytes = 4
        #expect(XMLTree(parsing: Array("<A />".utf8), limits: limits) == nil)
    }

    @Test func `refuses a document that is not UTF-8`() {
        #expect(XMLTree(parsing: Array("<A>".utf8) + [0xFF] + Array("</A>".utf8)) == nil)
        #expect(XMLTree(parsing: Array("<A>".utf8) + [0xC3, 0xBC] + Array("</A>".utf8))?.text == "ü")
    }

    /// Every tree that is read is written and read back as the same tree.
    @Test func `mutated documents cause no crash, and a tree that is read can be read back`() {
        let document = Array(
            "<?xml version='1.0'?><Envelope a=\"b\"><Body><RESULT><SUCCESS>TRUE</SUCCESS><X><![CDATA[<&]]>&#228;</X><Y/></RESULT></Body></Envelope>"
                .utf8
        )
        let marks = ["<", ">", "&", "/", "]]>", "<!--", "-->", "<![CDATA[", "&#", ";", "\"", "\u{0}", "ü", "<A>", "?"]
        var random = SeededGenerator(seed: 11)
        var read = 0
        for _ in 0..<4000 {
            var bytes = document
            for _ in 0...random.below(3) {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] = UInt8(random.below(256))
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random.below(8)))
                case 2: bytes.insert(contentsOf: Array(random.pick(marks).utf8), at: place)
                default: bytes = Array(bytes.prefix(place)) + bytes.dropFirst(random.below(bytes.count))
                }
                if bytes.isEmpty { bytes = document }
            }
            guard let tree = XMLTree(parsing: bytes) else { continue }
            read += 1
            #expect(XMLTree(parsing: tree.bytes) == tree)
        }
        #expect((100...3900).contains(read), "\(read) of 4000 were read")
    }
}
