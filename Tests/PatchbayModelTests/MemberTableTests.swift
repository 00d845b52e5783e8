import Foundation
import PatchbayJSON
import Testing

@testable import PatchbayModel

/// Compares the member tables of the model with its schemas.
@Suite("Member tables") struct MemberTableTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Schemas/model")

    private static func schema(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: Data(contentsOf: folder.appendingPathComponent("\(name).schema.json")))
    }

    /// The names of the properties of a schema of an object.
    private static func names(_ schema: JSONValue?) -> [String]? { schema?["properties"]?.object?.names }

    @Test(arguments: [
        ("identifier", Identifier.Member.names), ("tagChange", TagChange.Member.names),
        ("subscription", Subscription.Member.names), ("consent", Consent.Member.names),
        ("pushToken", PushToken.Member.names), ("deviceFacts", DeviceFacts.Member.names),
        ("device", Device.Member.names), ("contactSwitch", ContactSwitch.Member.names),
        ("readRequest", ReadRequest.Member.names),
    ])
    func `the schema of each part lists its members`(_ row: (definition: String, members: [String])) throws {
        let definition = try Self.schema("common")["$defs"]?[row.definition]
        #expect(Self.names(definition) == row.members)
    }

    @Test func `the schemas of whole values have their members`() throws {
        #expect(Self.names(try Self.schema("operation")) == EngagementOperation.Member.names)
        #expect(Self.names(try Self.schema("contact")) == Contact.Member.names)
        let snapshot = try Self.schema("snapshot")
        // Internal numbers of the outbox, which no output contains.
        let hidden: [SubjectSnapshot.Member] = [.cameAfter, .personChanges]
        let shown = SubjectSnapshot.Member.allCases.filter { !hidden.contains($0) }
        #expect(Self.names(snapshot) == shown.map(\.name))
        #expect(Self.names(snapshot["properties"]?["formerPeople"]?["items"]) == FormerPerson.Member.names)
    }

    @Test func `the schemas of actions, events, and changes have the members of each kind`() throws {
        let definitions = try Self.schema("common")["$defs"]
        func members(_ name: String) -> [[String]] {
            (definitions?[name]?["oneOf"] ?? definitions?[name]?["anyOf"])?.array?.compactMap(Self.names) ?? []
        }
        #expect(
            members("action")
                == Action.Kind.allCases.map { kind in [Action.Member.kind, kind.content].compactMap { $0?.name } }
        )
        #expect(
            members("event")
                == TrackingEvent.Kind.allCases.map { kind in
                    [TrackingEvent.Member.kind.name] + TrackingEvent.members(of: kind).map(\.name)
                }
        )
        #expect(members("attributeChange") == AttributeChange.Member.names.map { [$0] })
    }
}
