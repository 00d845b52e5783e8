import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords

extension Session {
    /// Names the format of a JSON file whose first record the chosen source format cannot read and another one can.
    func hintFormat(of path: String, instead source: RecordFormat, _ settings: JSONObject) {
        guard let head = FormatHead(path), UnrecognizedFile.isJSON(head.bytes) == true,
            !head.isRead(by: source, settings)
        else {
            return
        }
        let others = ([.neutralContacts] + Vendors.files.flatMap(\.formats)).filter { $0.id != source.id }
        guard let likely = others.first(where: { head.isRead(by: $0, [:]) }) else { return }
        console.say(
            "patchbay: \(path) looks like the format \(likely.id), not \(source.id). If it is, use --from \(likely.id).",
            .yellow
        )
    }
}

/// The beginning of a file.
private struct FormatHead {
    let bytes: [UInt8]

    init?(_ path: String) {
        var source = try? FileSource(path: path)
        guard source?.rereadablePath != nil, let bytes = try? source?.next() else { return nil }
        self.bytes = bytes
    }

    /// Whether a format reads the first record as a contact.
    func isRead(by format: RecordFormat, _ settings: JSONObject) -> Bool {
        guard var reader = try? format.makeReader?(settings) else { return false }
        return (try? reader.firstRecord(in: bytes))?.contact?.identifiers.isEmpty == false
    }
}
