public import PatchbayJSON
public import PatchbayModel

/// What the vendor itself said: its own code and the request's id, as its support asks for them.
///
/// It stands beside the normalised cause in a ``Finding`` and decides nothing. Free text of a vendor may quote a person's
/// value and is never kept: a code is at most 64 letters, digits and marks without a space, or it is no code.
public struct VendorReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The vendor's own code.
    public var code: String?
    /// The id under which the vendor knows the request.
    public var requestID: String?

    /// What the vendor said; what is no id is left out.
    public init(status: Int, code: String? = nil, requestID: String? = nil) {
        (self.status, self.code, self.requestID) = (status, code.flatMap(Self.id), requestID.flatMap(Self.id))
    }

    private static let marks = Set("._:/+=-".utf8)

    private static func id(_ text: String) -> String? {
        let isFit =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || marks.contains(byte)
            }
        return isFit ? text : nil
    }
}

extension VendorReply: ScannedValue {
    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["status", "code", "requestId"])
        self.init(
            status: try reader.required("status"),
            code: try reader.optional("code"),
            requestID: try reader.optional("requestId")
        )
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        self.init(
            status: try scanner.required("status"),
            code: try scanner.optional("code"),
            requestID: try scanner.optional("requestId")
        )
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "status", status)
        writer.member(known: "code", ifPresent: code)
        writer.member(known: "requestId", ifPresent: requestID)
        writer.endObject()
    }
}

extension VendorReply: CustomStringConvertible {
    /// `HTTP 400, code 10006, request 7f3a`.
    public var description: String {
        ["HTTP \(status)", code.map { "code \($0)" }, requestID.map { "request \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

/// Where an answer, or the request before it, names something.
public enum ReplyPlace: Hashable, Sendable {
    /// In a header of the answer.
    case header(String)
    /// In a member of the answer's JSON: `errorcode`, or `error.code`.
    case member(String)
    /// In a header that the request carried: the id is ours, and the vendor logs it.
    case sent(String)

    /// The text at that place; an empty one and the number 0 say nothing.
    func text(in response: WireResponse, _ body: JSONValue?, to request: WireRequest) -> String? {
        let text: String? =
            switch self {
            case .header(let name): response[header: name]
            case .sent(let name): request[header: name]
            case .member(let path):
                path.split(separator: ".").reduce(body) { $0?[String($1)] }.flatMap { $0.string ?? $0.number?.text }
            }
        return text.flatMap { $0.isEmpty || $0 == "0" ? nil : $0 }
    }
}

extension ReplyTable {
    /// What the vendor itself said in an exchange; nil without an answer.
    public func vendorReply(_ outcome: Outcome, to request: WireRequest) -> VendorReply? {
        guard let reply = outcome.reply else { return nil }
        // A body is read for its code alone, and only where there is one.
        let needsBody = (codes + requestIDs).contains { if case .member = $0 { true } else { false } }
        let body = needsBody && !reply.body.isEmpty && reply.body.count <= 65_536 ? reply.json : nil
        func first(_ places: [ReplyPlace]) -> String? {
            places.lazy.compactMap { $0.text(in: reply, body, to: request) }.first
        }
        return VendorReply(status: reply.status, code: first(codes), requestID: first(requestIDs))
    }
}

extension Interpretation {
    /// The same with the vendor's own words beside the cause of everything that went wrong. What was taken has them only
    /// where the vendor gave a code.
    ///
    /// - Parameter vendor: what the vendor said; asked for only where something went wrong.
    /// - Returns: the interpretation, its findings named.
    public func naming(_ vendor: @autoclosure () -> VendorReply?) -> Interpretation {
        // A key path of a generic type is made anew at every call; a closure is not.
        guard park != nil || verdicts.contains(where: { $0.value.namesFault }), let vendor = vendor() else {
            return self
        }
        var copy = self
        copy.park = park?.naming(vendor)
        for (id, verdict) in verdicts where verdict.namesFault { copy.verdicts[id] = verdict.naming(vendor) }
        return copy
    }
}

extension Verdict {
    /// Whether it tells of something that went wrong.
    fileprivate var namesFault: Bool {
        switch self {
        case .accepted(let finding, _): finding?.isFault ?? false
        case .rejected(let finding, _), .dropped(let finding): finding.isFault
        case .unchanged, .superseded, .underway, .retry: false
        }
    }

    fileprivate func naming(_ vendor: VendorReply) -> Verdict {
        switch self {
        case .accepted(let finding, let answer) where vendor.code != nil:
            .accepted(finding?.naming(vendor), answer: answer)
        case .rejected(let finding, let answer): .rejected(finding.naming(vendor), answer: answer)
        case .dropped(let finding): .dropped(finding.naming(vendor))
        case .accepted, .unchanged, .superseded, .underway, .retry: self
        }
    }
}

extension Finding {
    /// Whether something is wrong, and it is more than good to know.
    fileprivate var isFault: Bool { error != nil && severity != .note }

    fileprivate func naming(_ vendor: VendorReply) -> Finding {
        guard isFault else { return self }
        var copy = self
        copy.vendor = copy.vendor ?? vendor
        return copy
    }
}
