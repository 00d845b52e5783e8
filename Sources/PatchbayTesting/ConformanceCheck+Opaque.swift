import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension ConformanceCheck {
    /// Checks that opaque values are passed on unchanged.
    static let opaques: [ConformanceCheck] = [
        ConformanceCheck("an object of the app arrives unchanged", "A15") { subject in
            subject.samples.filter { $0.name == "attribute-object-nested" }.compactMap { sample -> Problem? in
                let drive = subject.drive(sample, against: .accepting)
                let isRemarked =
                    sample.operations.contains { drive.examined[$0.id]?.isEmpty == false }
                    || drive.outcomes.values.contains { !$0.isTaken || $0.finding != nil }
                guard !isRemarked, subject.claims(sample.operations[0]) else { return nil }
                let wanted: [JSONValue] = sample.operations.flatMap { operation -> [JSONValue] in
                    guard case .changeAttributes(let changes) = operation.action else { return [] }
                    return changes.values.compactMap { if case .set(let value) = $0 { value.plain } else { nil } }
                }
                let found = drive.sent.flatMap { $0.request.json.map(\.sorted.everything) ?? [] }
                return wanted.allSatisfy { found.contains($0) }
                    ? nil : Problem(sample.name, "the object arrives changed, and no finding reports it.")
            }
        },
        ConformanceCheck("an opaque value of the vendor is returned unchanged", "A15") { subject in
            subject.echoes.flatMap { echo in
                JSONValue.opaques.compactMap { value -> Problem? in
                    let samples = [echo.samples.giving, echo.samples.returning].compactMap { name in
                        subject.samples.first { $0.name == name }
                    }
                    guard samples.count == 2 else {
                        return Problem(echo.name, "it names a sample that does not exist.")
                    }
                    var script = Script(isPrepared: !samples[0].startsAfresh)
                    script.answer = { $0.endpoint == echo.endpoint ? .replied(echo.reply(value)) : nil }
                    let drive = subject.drive(turns: samples.map { Turn(operations: $0.operations) }, script)
                    let returned = drive.sent.compactMap { echo.returned($0.request) }
                    guard returned.contains(value) else {
                        return Problem(echo.name, "it is not returned, or is returned changed: \(value.text)")
                    }
                    return nil
                }
            }
        },
    ]
}

extension AttributeValue {
    /// The value as plain JSON, numbers as they were written.
    fileprivate var plain: JSONValue {
        switch self {
        case .boolean(let value): .bool(value)
        case .integer, .decimal: plainText.flatMap(JSONNumber.init(text:)).map { .number($0) } ?? .null
        case .choices(let words): .array(words.map { .string($0) })
        case .list(let elements): .array(elements.map(\.plain))
        case .object(let members):
            .object(JSONObject(members.map { ($0.key.rawValue, $0.value.plain) })).sorted
        default: .string(plainText ?? "")
        }
    }
}

extension JSONValue {
    /// Values that change if an adapter decodes them: unknown names, nested null, and the text of numbers.
    fileprivate static let opaques: [JSONValue] = [
        #"{"seen":[{"at":null},[],{}],"no such name":{"ratio":1.50,"huge":1E+2,"long":12345678901234567890}}"#,
        #"{"":"","a \u0000 text":"with \"quotes\" and \/ 😀","deep":[[[{"x":[null]}]]],"minus":-0.0}"#,
    ].compactMap { try? JSONValue(parsing: $0) }

    /// The value and all nested values, including those in texts that hold JSON.
    fileprivate var everything: [JSONValue] {
        switch self {
        case .object(let object): [self] + object.flatMap(\.value.everything)
        case .array(let elements): [self] + elements.flatMap(\.everything)
        case .string(let text):
            [self] + (text.hasPrefix("{") ? (try? JSONValue(parsing: text))?.sorted.everything ?? [] : [])
        default: [self]
        }
    }
}
