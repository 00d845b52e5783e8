import PatchbayJSON
import Testing

/// Valid texts with a few changed bytes. The readers never crash, and a text that they accept is written and read back
/// as the same value. The seed and the number of a run reproduce it.
@Suite("Mutated texts") struct MutationTests {
    private static let texts = [
        #"{"id":"c-1","points":-12.50e+3,"tags":["a","\u00e9\ud83d\ude00",null,true],"deep":[[[{"x":{}}]]]}"#,
        #"[{"a":1,"b":"\"\\\/\b\f\n\r\t"},[],{},"Zoë 👩🏽‍🚀",0.1,1e400,-0]"#,
        "name,\"city\"\r\n\"Zo\"\"ë\",\"Åbo\r\nFinland\"\n,,\nplain,x\n\"\",\"a,b\"\r\n",
    ]
    /// Bytes with a meaning for one of the readers.
    private static let marks = Array("\"\\{}[],:\r\n\t ;-+.eE0u\u{0}".utf8) + [0xFF, 0xC3, 0xED, 0xA0, 0x80, 0xEF]

    private static func mutated(_ run: Int, _ random: inout MutationChance) -> [UInt8] {
        var bytes = Array(texts[run % texts.count].utf8)
        for _ in 0..<random.below(6) + 1 {
            let place = random.below(bytes.count)
            switch random.below(5) {
            case 0: bytes[place] ^= 1 << UInt8(random.below(8))
            case 1: bytes[place] = marks[random.below(marks.count)]
            case 2: bytes.insert(marks[random.below(marks.count)], at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + random.below(9) + 1))
            default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + random.below(20))], at: place)
            }
            if bytes.isEmpty { bytes = [marks[random.below(marks.count)]] }
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3]) func `refuses mutated JSON at a position, or writes and reads it back`(seed: UInt64) {
        var random = MutationChance(seed: seed)
        var (taken, refused) = (0, 0)
        for run in 0..<1_500 {
            let bytes = Self.mutated(run, &random)
            do {
                let value = try JSONValue(parsing: bytes, maximumDepth: 8)
                #expect((try? JSONValue(parsing: value.text)) == value, "seed \(seed), run \(run)")
                taken += 1
            } catch {
                #expect((0...bytes.count).contains(error.offset), "seed \(seed), run \(run)")
                refused += 1
            }
        }
        #expect(taken > 20 && refused > 500)
    }

    @Test(arguments: [1, 2, 3]) func `reads mutated delimited text as the same records and faults in any chunks`(
        seed: UInt64
    ) {
        var random = MutationChance(seed: seed)
        var (records, faults) = (0, 0)
        for run in 0..<1_000 {
            let bytes = Self.mutated(run, &random)
            let whole = read(bytes, inPieces: bytes.count)
            #expect(whole == read(bytes, inPieces: random.below(7) + 1), "seed \(seed), run \(run)")
            #expect(whole.records + whole.faults <= bytes.count, "seed \(seed), run \(run)")
            (records, faults) = (records + whole.records, faults + whole.faults)
        }
        #expect(records > 500 && faults > 20)
    }

    private struct Counts: Equatable {
        var records = 0
        var faults = 0
        var texts: [[String]] = []
    }

    private func read(_ bytes: [UInt8], inPieces size: Int) -> Counts {
        var reader = DelimitedReader(dialect: DelimitedDialect(hasHeader: false), maximumLength: 40)
        var counts = Counts()
        var rest = bytes[...]
        repeat {
            reader.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            if rest.isEmpty { reader.finish() }
            while let next = reader.next() {
                switch next {
                case .success(let record):
                    counts.records += 1
                    counts.texts.append(record.fields)
                case .failure: counts.faults += 1
                }
            }
        } while !rest.isEmpty
        return counts
    }
}

/// A random number generator with a fixed sequence for a seed (SplitMix64).
struct MutationChance {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
