import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The handling of refused credentials.
extension Runner {
    /// Keeps the operations of an exchange pending if the vendor refused their credential and a fresh one may help.
    ///
    /// The adapter's interpretation is discarded, and its memory stays as it was: for the adapter, the request was never
    /// made. The refused credential is not given to it again.
    ///
    /// - Returns: Whether the operations stay pending; false if the refusal is final or has another cause.
    func refusesCredential(_ ended: Ended, _ meaning: Meaning, in lane: Lane) throws -> Bool {
        guard descriptor.delivery.usesCredentials, let reply = ended.outcome.reply,
            !reply.isSuccess || context.credentials.hasRefusals
        else { return false }
        let flight = ended.flight
        let signed = flight.operations.filter { $0.credential.map(flight.request.carries) ?? false }
        guard !signed.isEmpty else { return false }
        guard meaning.isRefusedCredential(status: reply.status) else {
            guard reply.status != 401 else { return false }
            for pending in signed { context.credentials.noteAcceptance(of: name, for: pending.operation.contact) }
            return false
        }
        let refusal = CredentialCache.Refusal(status: reply.status, host: flight.request.host, date: ended.moment.date)
        var seen: Set<ScalarString?> = []
        for pending in signed where seen.insert(pending.operation.contact.map(ScalarString.init)).inserted {
            guard let credential = pending.credential else { continue }
            let isFinal = context.credentials.noteRefusal(
                of: credential,
                refusal,
                of: name,
                for: pending.operation.contact
            )
            if isFinal { return false }
        }
        try settle(
            Meaning(judgements: []),
            [],
            remembering: nil,
            in: lane,
            answered: true,
            of: flight.isJournaled ? flight : nil
        )
        lane.unsettled = nil
        planAgain()
        return true
    }
}

extension Meaning {
    /// Whether the adapter would end the operations or suspend the provider because of their credential.
    fileprivate func isRefusedCredential(status: Int) -> Bool {
        func isOfCredential(_ finding: Finding?) -> Bool { status == 401 || finding?.error == .unauthenticated }
        if let suspension { return isOfCredential(suspension) }
        let outcomes = judgements.compactMap { $0?.outcome }
        return !outcomes.isEmpty && outcomes.allSatisfy { $0.term == .rejected && isOfCredential($0.finding) }
    }
}

extension WireRequest {
    /// Whether a header or the body contains a credential.
    fileprivate func carries(_ credential: Secret) -> Bool {
        let bytes = Array(credential.value.utf8)
        return !bytes.isEmpty
            && (headers.contains { $0.value.contains(credential.value) } || body.firstRange(of: bytes) != nil)
    }
}
