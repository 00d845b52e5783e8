import PatchbayAdapterKit
import PatchbayModel

/// Decides by the subject's consents whether an operation may be sent.
struct ConsentGate {
    enum Decision { case pass, hold(String), deny }

    let required: Set<Purpose>

    /// The purpose that an operation serves; nil for what needs no consent.
    func purpose(of operation: EngagementOperation) -> Purpose? { purpose(of: operation.action) }

    /// The purpose that an action serves; nil for what needs no consent.
    func purpose(of action: Action) -> Purpose? {
        switch action {
        case .track: .tracking
        case .changeSubscription: .messaging
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: .profile
        case .setConsent, .farewell, .erase, .readBack: nil
        }
    }

    func hold(for purpose: Purpose) -> String { "consent.\(purpose.rawValue)" }

    /// Whether something that serves the purpose may be sent now.
    func allows(_ purpose: Purpose, _ mirror: SubjectMirror) -> Bool {
        !required.contains(purpose) || mirror.consent(for: purpose) == .granted
    }

    /// Why nobody may be asked about the person now; nil if they may. An answer is part of the profile.
    func refusal(toRead mirror: SubjectMirror) -> Finding? {
        guard !allows(.profile, mirror) else { return nil }
        let isDenied = mirror.consent(for: .profile) == .denied
        return (isDenied ? FindingRow.Engine.consentDenied : .Engine.consentUnknown).at()
    }

    func decision(for operation: EngagementOperation, _ mirror: SubjectMirror) -> Decision {
        guard let purpose = purpose(of: operation), required.contains(purpose) else { return .pass }
        return switch mirror.consent(for: purpose) {
        case .granted: .pass
        case .unknown: .hold(hold(for: purpose))
        case .denied: .deny
        }
    }
}
