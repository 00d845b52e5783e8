import PatchbayAdapterKit
import PatchbayJSON

extension AcousticServerSimulator {
    /// The contact of a device that some consent named.
    func contact(ofDevice path: [String], _ state: AcousticServerAccount) -> WireResponse {
        guard settings.isDatabase(path[0]), path.count == 4,
            let contact = state.devices["\(path[2])/\(path[3])"].flatMap({ state.contacts[$0] })
        else { return error(404, "No such contact.") }
        let fields = contact.columns.inOrder.map { name, value -> JSONValue in
            ["name": .string(name), "value": .string(value)]
        }
        var data: JSONObject = ["emailType": "HTML", "customFields": .array(fields)]
        if let email = contact.columns[settings.emailColumn] { data["email"] = .string(email) }
        return WireResponse(200, json: wrapped(.object(data)))
    }

    /// Returns the data of contacts in the form of a recorded reply.
    func storedData(of keys: [String], _ state: AcousticServerAccount) -> JSONValue {
        let contacts = keys.map { key -> JSONValue in
            let attributes = (state.contacts[key]?.columns ?? [:]).inOrder.map { name, value in
                JSONValue.object(["name": .string(name), "value": .string(value)])
            }
            return [
                "contactFound": .bool(state.contacts[key] != nil),
                "data": ["consents": [], "emails": [], "attributes": .array(attributes), "otherIdentifiers": []],
                "gdprIdentifiers": [["name": .string(settings.keyColumn), "value": .string(key)]],
            ]
        }
        return ["databaseId": .integer(Int64(settings.databaseID) ?? 0), "contacts": .array(contacts)]
    }

    /// Returns events that were accepted and failed later.
    func failures(_ state: AcousticServerAccount) -> WireResponse {
        WireResponse(
            200,
            json: wrapped(.array(state.events.filter { settings.lateRefusals.contains($0.name) }.map(\.body)))
        )
    }
}
