import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Writes the results, a JSON object a line (`Schemas/migration/result`): the number of the row, its verdict, the outcomes
/// of its operations, and the findings. The results contain no personal data.
final class ServerResults {
    private let output: OutputFile
    private var rejects: Rejects?
    private var json = JSONWriter()
    private var buffer: [UInt8] = []
    private static let writeSize = 64 << 10

    init(
        _ outputs: [OutputFile],
        hasRejects: Bool,
        guarded: DelimitedDialect? = nil,
        after earlier: Checkpoints.Place?
    ) {
        output = outputs[0]
        guard hasRejects else { return }
        var rejects = Rejects(list: outputs[1], replay: outputs[2])
        rejects.guarded = guarded
        if let earlier, earlier.hasBegun { rejects.resume(hasBegun: true, hasReturns: earlier.hasReturns) }
        hasBegun = earlier?.hasBegun ?? false
        self.rejects = rejects
    }

    private var hasBegun = false

    func note(_ chunk: [UInt8]) { rejects?.note(chunk) }

    func begin(line: Int) throws(FileError) {
        guard !hasBegun else { return }
        hasBegun = true
        try rejects?.begin(line: line)
    }

    func write(_ item: ServerItem, _ findings: [Finding]) throws(FileError) {
        let isRejected = findings.contains { $0.severity == .error }
        json.reset()
        json.beginObject()
        json.member("number", item.number)
        json.member("line", item.record.line)
        json.member("verdict", isRejected ? "rejected" : "written")
        let terms = Dictionary(item.outcomes.compactMap { $0?.term.rawValue }.map { ($0, 1) }, uniquingKeysWith: +)
        json.member(
            "operations",
            JSONValue.object(JSONObject(counts: terms))
        )
        if !findings.isEmpty {
            json.member(
                "findings",
                JSONValue.array(
                    findings.map { finding in
                        var member: JSONObject = [
                            "code": .string(finding.code), "severity": .string(finding.severity.rawValue),
                            "path": .string(finding.path),
                        ]
                        if let vendor = finding.vendor { member["vendor"] = vendor.json }
                        return .object(member)
                    }
                )
            )
        }
        json.endObject()
        json.endLine()
        buffer += json.bytes
        if isRejected { try rejects?.reject(item.record, findings) }
        if buffer.count >= Self.writeSize { try flush() }
    }

    private func flush() throws(FileError) {
        try output.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    func flush(_ place: inout Checkpoints.Place) throws(FileError) {
        try flush()
        try rejects?.flush()
        (place.hasBegun, place.hasReturns) = (hasBegun, rejects?.hasReturns ?? false)
    }
}
