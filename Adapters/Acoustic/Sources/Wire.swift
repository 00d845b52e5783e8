import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AcousticDevice {
    /// The request of a call of the profile.
    func request(_ call: DeviceProfile.Call, _ ids: Memory.IDs?, _ body: JSONValue?) -> WireRequest {
        RuleID.acoustic("W7").fire()
        let parts = ["{appKey}": settings.appKey, "{userId}": ids?.user ?? "", "{channelId}": ids?.channel ?? ""]
        let path = parts.reduce(call.path) { $0.replacing($1.key, with: URLText.encode($1.value)) }
        RuleID.acoustic("W8").fire()
        var headers = [WireHeader("Accept", "application/json"), WireHeader("User-Agent", Sender.name)]
        if body != nil { headers.append(WireHeader("Content-Type", "application/json")) }
        return WireRequest(
            call.method,
            base(before: call.path) + path,
            headers: headers,
            body: body.map { Array($0.text.utf8) } ?? []
        )
    }

    /// The base address without the version segment that the path brings (W4).
    private func base(before path: String) -> String {
        RuleID.acoustic("W4").fire()
        let version = "/" + (path.split(separator: "/").first ?? "")
        return settings.baseURL.hasSuffix(version)
            ? String(settings.baseURL.dropLast(version.utf8.count)) : settings.baseURL
    }

    /// The body of an update or a delete: all entries in one list, the later of two for one column alone (G5).
    func body(_ entries: [Entry], isDelete: Bool) -> JSONValue {
        let call = isDelete ? settings.profile.delete : settings.profile.update
        RuleID.acoustic(isDelete ? "W2" : "W6").fire()
        let list: [JSONValue] = entries.map { entry in
            guard let value = entry.value else { return .string(entry.key) }
            return .object(EventRecord.AttributeEntry.table.object(.init(key: entry.key, value: value)))
        }
        return .object(JSONObject([(call.wrapper ?? "", .array(list))]))
    }

    /// The body of an events request.
    func body(_ events: [EventRecord]) -> JSONValue {
        RuleID.acoustic("W3").fire()
        let list = events.map { JSONValue.object(EventRecord.table.object($0)) }
        return .object(JSONObject([(settings.profile.events.wrapper ?? "", .array(list))]))
    }
}
