import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    private static let headers = [WireHeader("Accept", "application/json"), WireHeader("User-Agent", Sender.name)]
    private static let headersOfBody = headers + [WireHeader("Content-Type", "application/json")]

    /// The request of a call of the profile.
    func request(_ endpoint: Endpoint, _ ids: Memory.IDs?, _ body: [UInt8]?) -> WireRequest {
        let address = addresses[endpoint]
        let url = address?.path.text(after: address?.base ?? "") { name in
            switch name {
            case "userId": ids?.user ?? ""
            case "channelId": ids?.channel ?? ""
            default: nil
            }
        }
        return WireRequest(
            settings.profile[endpoint].method,
            url ?? settings.baseURL,
            headers: body == nil ? Self.headers : Self.headersOfBody,
            body: body ?? []
        )
    }

    /// Returns the address of a call: the base address without a version segment that the path contains, and the path
    /// (W4).
    static func address(
        of call: DeviceProfile.Call,
        _ settings: AcousticSettings
    ) -> (base: String, path: URLText.Template) {
        let slash = UInt8(ascii: "/")
        let version = call.path.utf8.drop { $0 == slash }.prefix { $0 != slash }
        let base = settings.baseURL.utf8
        let isDouble =
            base.suffix(version.count + 1).first == slash && base.suffix(version.count).elementsEqual(version)
        let path = URLText.Template(call.path).filling { $0 == "appKey" ? settings.appKey : nil }
        return (String(Substring(base.dropLast(isDouble ? version.count + 1 : 0))), path)
    }

    /// The body of an update or a delete: all entries in one list, the later of two for one column alone (G5).
    func body(_ entries: [Entry], isDelete: Bool) -> [UInt8] {
        let call = isDelete ? settings.profile.delete : settings.profile.update
        return list(in: call, of: entries) { entry, writer in
            guard let value = entry.value else { return writer.string(entry.key) }
            EventRecord.AttributeEntry.table.write(.init(key: entry.key, value: value), to: &writer)
        }
    }

    /// The body of an events request.
    func body(_ events: [EventRecord]) -> [UInt8] {
        list(in: settings.profile.events, of: events) { EventRecord.table.write($0, to: &$1) }
    }

    /// Returns an object with one member, a list that the call names.
    private func list<Element>(
        in call: DeviceProfile.Call,
        of elements: [Element],
        _ write: (Element, inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(expecting: 64 + 320 * elements.count)
        writer.beginObject()
        writer.name(call.wrapper ?? "")
        writer.beginArray()
        for element in elements { write(element, &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
