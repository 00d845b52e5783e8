package import PatchbayJSON
package import PatchbayModel

/// The vendor's own error code and request id, which its support asks for.
///
/// It complements the normalized error code in a ``Finding`` and has no effect on decisions. Free text of a vendor may contain
/// a person's value and is never stored: a code has at most 64 letters, digits, and marks, and no space. A code that looks like
/// a phone number or a token, or that occurs in the request, is replaced by ``withheld``.
public struct VendorReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The vendor's own code.
    public var code: String?
    /// The id under which the vendor knows the request.
    public var requestID: String?

    /// The replacement for a code or an id that may be a secret or a person's value.
    public static let withheld = "(withheld)"

    /// Creates the reply information. Invalid codes and ids are omitted.
    public init(status: Int, code: String? = nil, requestID: String? = nil) {
        self.status = status
        self.code = code.flatMap { Self.kept($0, isID: false) }
        self.requestID = requestID.flatMap { Self.kept($0, isID: true) }
    }

    /// Returns the information without texts of the request, except for the request's own id.
    func withholding(_ request: inout AnsweredRequest) -> VendorReply {
        var copy = VendorReply(status: status, code: code, requestID: requestID)
        if let code = copy.code, !Self.oauthErrors.contains(code), request.holds(code) { copy.code = Self.withheld }
        if let id = copy.requestID, !request.isNamed(id), request.holds(id) { copy.requestID = Self.withheld }
        return copy
    }

    /// The error codes of OAuth 2.0 (RFC 6749, 6750). They repeat words of every token request, and are not personal data.
    private static let oauthErrors: Set<String> = [
        "access_denied", "insufficient_scope", "invalid_client", "invalid_grant", "invalid_request", "invalid_scope",
        "invalid_token", "server_error", "temporarily_unavailable", "unauthorized_client", "unsupported_grant_type",
        "unsupported_response_type",
    ]

    /// Returns the text to store; nil if it is not a valid code or id.
    private static func kept(_ text: String, isID: Bool) -> String? {
        guard text != withheld else { return text }
        guard Self.isID(text) else { return nil }
        if isID, UUIDText.isValid(text) { return text }
        return isNumberOfPhone(text, isID: isID) || isToken(text) ? withheld : text
    }

    private static let marks = Set("._:/+=-".utf8)

    private static func isID(_ text: String) -> Bool {
        (1...AnsweredRequest.longest).contains(text.utf8.count)
            && text.utf8.allSatisfy { isDigit($0) || isLetter($0) || marks.contains($0) }
    }

    /// Whether a text has seven digits and no letter, or nine digits, or a plus and seven digits. Request ids often contain a
    /// long timestamp.
    private static func isNumberOfPhone(_ text: String, isID: Bool) -> Bool {
        if !text.utf8.contains(where: isLetter) { return text.utf8.count(where: isDigit) >= 7 }
        var (digits, isAfterPlus) = (0, false)
        for byte in text.utf8 {
            if isDigit(byte) {
                digits += 1
                if digits >= (isAfterPlus ? 7 : isID ? Int.max : 9) { return true }
            } else if !"-./".utf8.contains(byte) {
                (digits, isAfterPlus) = (0, byte == UInt8(ascii: "+"))
            }
        }
        return false
    }

    /// Whether a text contains 24 consecutive letters and digits, including at least one of each.
    private static func isToken(_ text: String) -> Bool {
        text.utf8.split { !isDigit($0) && !isLetter($0) }.contains {
            $0.count >= 24 && $0.contains(where: isDigit) && $0.contains(where: isLetter)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}

extension VendorReply: ObjectValue {
    package enum Member: MemberName, MemberTable {
        case status, code
        case requestID = "requestId"
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        self.init(
            status: try reader.required(Member.status),
            code: try reader.optional(Member.code),
            requestID: try reader.optional(Member.requestID)
        )
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.status, status)
        writer.member(Member.code, ifPresent: code)
        writer.member(Member.requestID, ifPresent: requestID)
    }
}

extension VendorReply: CustomStringConvertible {
    /// `HTTP 400, code 10006, request 7f3a`.
    public var description: String {
        ["HTTP \(status)", code.map { "code \($0)" }, requestID.map { "request \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}

/// A place in a reply, or in the request, that contains a code or an id.
public enum ReplyPlace: Hashable, Sendable, Codable {
    /// A header of the reply.
    case header(String)
    /// A member of the reply's JSON: `errorcode`, or `error.code`.
    case member(String)
    /// A header of the request: the sender chose the id, and the vendor logs it.
    case sent(String)

    /// Returns the text at the place. An empty text and the number 0 count as missing.
    func text(in response: WireResponse, _ body: JSONValue?, to request: WireRequest) -> String? {
        let text: String? =
            switch self {
            case .header(let name): response[header: name]
            case .sent(let name): request[header: name]
            case .member(let path):
                body?.values(at: path).first.flatMap { $0.string ?? $0.number?.text }
            }
        return text.flatMap { $0.isEmpty || $0 == "0" ? nil : $0 }
    }
}

extension ReplyTable {
    /// Returns the vendor's error information for an exchange, without texts of the request; nil without a reply.
    public func vendorReply(_ outcome: Outcome, to request: WireRequest) -> VendorReply? {
        var answered = AnsweredRequest(request, requestIDs: requestIDs)
        return vendorReply(outcome, to: request, &answered)
    }

    fileprivate func vendorReply(
        _ outcome: Outcome,
        to request: WireRequest,
        _ answered: inout AnsweredRequest
    ) -> VendorReply? {
        guard let reply = outcome.reply else { return nil }
        // The body is read only for its code, and only if one of the places is in the body.
        let needsBody = (codes + requestIDs).contains { if case .member = $0 { true } else { false } }
        let body = needsBody && !reply.body.isEmpty && reply.body.count <= 65_536 ? reply.json : nil
        func first(_ places: [ReplyPlace]) -> String? {
            places.lazy.compactMap { $0.text(in: reply, body, to: request) }.first
        }
        return VendorReply(status: reply.status, code: first(codes), requestID: first(requestIDs))
            .withholding(&answered)
    }
}

extension Interpretation {
    /// Returns the interpretation with the vendor's error information added to every failure. Findings about accepted
    /// operations get it only if the vendor returned a code. Information that the adapter has already added stays, without
    /// texts of the request.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the exchange.
    ///   - request: The request.
    ///   - replies: The table with the places of the vendor's codes.
    /// - Returns: The interpretation with the completed findings.
    public func naming(_ outcome: Outcome, to request: WireRequest, by replies: ReplyTable) -> Interpretation {
        // A closure, because Swift would create a key path of a generic type again at every call.
        guard suspension != nil || verdicts.contains(where: { $0.value.takesWords }) else { return self }
        var answered = AnsweredRequest(request, requestIDs: replies.requestIDs)
        let vendor = replies.vendorReply(outcome, to: request, &answered)
        var copy = self
        copy.suspension = suspension?.naming(vendor, &answered)
        for (id, verdict) in verdicts where verdict.takesWords {
            copy.verdicts[id] = verdict.naming(vendor, &answered)
        }
        return copy
    }
}

extension Verdict {
    /// Whether the verdict reports a failure, or has information from the vendor.
    fileprivate var takesWords: Bool {
        switch self {
        case .accepted(let finding, _), .unchanged(let finding): finding?.takesWords ?? false
        case .rejected(let finding, _), .dropped(let finding): finding.takesWords
        case .superseded, .inProgress, .retry: false
        }
    }

    fileprivate func naming(_ vendor: VendorReply?, _ request: inout AnsweredRequest) -> Verdict {
        switch self {
        case .accepted(let finding, let answer):
            .accepted(finding?.naming(vendor?.code == nil ? nil : vendor, &request), answer: answer)
        case .unchanged(let finding): .unchanged(finding?.naming(nil, &request))
        case .rejected(let finding, let answer): .rejected(finding.naming(vendor, &request), answer: answer)
        case .dropped(let finding): .dropped(finding.naming(vendor, &request))
        case .superseded, .inProgress, .retry: self
        }
    }
}

extension Finding {
    /// Whether it is an error of more than severity `note`.
    fileprivate var isFault: Bool { error != nil && severity != .note }

    fileprivate var takesWords: Bool { isFault || vendor != nil }

    fileprivate func naming(_ said: VendorReply?, _ request: inout AnsweredRequest) -> Finding {
        var copy = self
        copy.vendor = vendor?.withholding(&request) ?? (isFault ? said : nil)
        return copy
    }
}
