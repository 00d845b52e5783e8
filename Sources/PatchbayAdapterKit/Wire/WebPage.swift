extension WireResponse {
    /// Whether the body is a web page, such as a network's sign-in page or a proxy's page instead of the vendor's reply.
    public var isWebPage: Bool {
        let start = body.prefix(512).drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
        guard start.first == UInt8(ascii: "<") else { return false }
        let type = self[header: "Content-Type"]?.trimmed.lowercased() ?? ""
        if type.hasPrefix("text/html") || type.hasPrefix("application/xhtml") { return true }
        let text = String(decoding: start.prefix(16), as: UTF8.self).lowercased()
        return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
    }
}

extension WireResponse {
    /// Whether an intermediary replied instead of the vendor: a page with a success status, or a redirect. Vendor APIs do not
    /// redirect, and redirects are not followed.
    public var isDetour: Bool {
        isSuccess && isWebPage || (300...399).contains(status) && self[header: "Location"] != nil
    }
}
