import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The fates of requests.
extension FaultSimulation {
    func fate(of sent: VirtualWorld.Sent) -> VirtualWorld.Fate {
        guard enroll(sent) else { return .silence }
        tally.requests += 1
        checkLeaving(sent)
        if isRefused(sent) {
            describe(sent, "refused with 401 because of its credential")
            return .outcome(.replied(WireResponse(401)), after: .milliseconds(20))
        }
        guard !isHealthy else { return process(sent, after: .milliseconds(20)) }
        let faultMode = faultMode[sent.provider] ?? .fair
        noteAttempt(sent, faultMode)
        switch faultMode.treatment(&random, date: sent.date) {
        case .process(let delay): return process(sent, after: delay)
        case .loseAnswer(let delay):
            uncertain.insert(sent.provider)
            answer(sent, "processed, and the reply is lost")
            return .outcome(.failed(TransportFailure(.lost, "connectionLost")), after: delay)
        case .processSilently:
            uncertain.insert(sent.provider)
            answer(sent, "processed, without a reply")
            return .silence
        case .misreport(let status, let delay):
            uncertain.insert(sent.provider)
            answer(sent, "processed, and the reply is replaced by \(status)")
            return .outcome(.replied(WireResponse(status)), after: delay)
        case .refuse(let status, let headers, let delay):
            describe(sent, "refused with \(status) \(headers.map { "\($0.name): \($0.value)" }.joined())")
            return .outcome(.replied(WireResponse(status, headers: headers)), after: delay)
        case .fail(let failure, let delay):
            describe(sent, failure.code)
            return .outcome(.failed(failure), after: delay)
        case .silence:
            describe(sent, "without a reply")
            return .silence
        case .death(let hasArrived):
            if hasArrived {
                answer(sent, "processed, and the process dies")
            } else {
                describe(sent, "the process dies")
            }
            noteDeath(of: sent.process)
            noteWake()
            return .death
        case .mislead(let kind, let isProcessed, let delay):
            return mislead(kind, sent, isProcessed: isProcessed, after: delay)
        }
    }

    private func process(_ sent: VirtualWorld.Sent, after delay: Duration) -> VirtualWorld.Fate {
        let response = answer(sent, "processed")
        lastReply[sent.provider] = response
        return .outcome(.replied(response), after: delay)
    }

    @discardableResult
    private func answer(_ sent: VirtualWorld.Sent, _ what: String) -> WireResponse {
        guard let vendor = vendor(of: sent.provider) else { return WireResponse(200) }
        processed.insert(sent.number)
        lastVendor[sent.provider] = vendor
        let response = respond(vendor, to: sent)
        for name in setup.handedOut[sent.provider] ?? [] {
            guard let token = response[header: name] ?? response.json?[name]?.string else { continue }
            tokens[sent.provider, default: [:]][token] = sent.lane
        }
        describe(sent, "\(what): \(response.status)")
        return response
    }

    /// Returns the vendor or the sandbox to which a provider currently sends.
    private func vendor(of provider: String) -> SimulatedVendor? {
        let isShadowed = plan.providers.first { $0.name == provider }?.isShadowed ?? false
        return (isShadowed ? setup.sandboxes[provider] : nil) ?? setup.vendors[provider]
    }

    private func mislead(
        _ kind: FaultMode.MisleadingReply,
        _ sent: VirtualWorld.Sent,
        isProcessed: Bool,
        after delay: Duration
    )
        -> VirtualWorld.Fate
    {
        tally.misleadingReplies += 1
        deceived.insert(sent.provider)
        let truth = isProcessed ? answer(sent, "processed, with a misleading reply") : WireResponse(200, json: [:])
        if !isProcessed { describe(sent, "not processed, with a misleading reply") }
        let html = [WireHeader("Content-Type", "text/html")]
        let reply: WireResponse =
            switch kind {
            case .page: WireResponse(200, headers: html, body: Array("<html><body>It works!</body></html>".utf8))
            case .nothing: WireResponse(200)
            case .half: WireResponse(200, headers: truth.headers, body: Array(truth.body.prefix(truth.body.count / 2)))
            case .error: WireResponse(200, json: ["error": 500, "error_text": "Internal error", "message": "failed"])
            case .earlier: lastReply[sent.provider] ?? WireResponse(200)
            }
        return .outcome(.replied(reply), after: delay)
    }

    private func describe(_ sent: VirtualWorld.Sent, _ what: @autoclosure () -> String) {
        note("    request \(sent.number) to \(sent.provider): \(sent.request.method) \(sent.endpoint) \(what())")
    }
}
