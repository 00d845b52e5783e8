import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    /// The request of a call of the profile.
    func request(_ call: DeviceProfile.Call, _ ids: Memory.IDs?, _ body: [UInt8]?) -> WireRequest {
        RuleID.acoustic("W7").fire()
        let path = URLText.path(call.path) { name in
            switch name {
            case "appKey": settings.appKey
            case "userId": ids?.user ?? ""
            case "channelId": ids?.channel ?? ""
            default: nil
            }
        }
        RuleID.acoustic("W8").fire()
        var headers = [WireHeader("Accept", "application/json"), WireHeader("User-Agent", Sender.name)]
        if body != nil { headers.append(WireHeader("Content-Type", "application/json")) }
        return WireRequest(
            call.method,
            base(before: call.path) + path,
            headers: headers,
            body: body ?? []
        )
    }

    /// The base address without the version segment that the path brings (W4).
    private func base(before path: String) -> String {
        RuleID.acoustic("W4").fire()
        let slash = UInt8(ascii: "/")
        let version = path.utf8.drop { $0 == slash }.prefix { $0 != slash }
        let base = settings.baseURL.utf8
        guard base.suffix(version.count + 1).first == slash, base.suffix(version.count).elementsEqual(version) else {
            return settings.baseURL
        }
        return String(Substring(base.dropLast(version.count + 1)))
    }

    /// The body of an update or a delete: all entries in one list, the later of two for one column alone (G5).
    func body(_ entries: [Entry], isDelete: Bool) -> [UInt8] {
        let call = isDelete ? settings.profile.delete : settings.profile.update
        RuleID.acoustic(isDelete ? "W2" : "W6").fire()
        return list(in: call, of: entries) { entry, writer in
            guard let value = entry.value else { return writer.string(entry.key) }
            EventRecord.AttributeEntry.table.write(.init(key: entry.key, value: value), to: &writer)
        }
    }

    /// The body of an events request.
    func body(_ events: [EventRecord]) -> [UInt8] {
        RuleID.acoustic("W3").fire()
        return list(in: settings.profile.events, of: events) { EventRecord.table.write($0, to: &$1) }
    }

    /// An object whose one member, named by the call, is a list.
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
