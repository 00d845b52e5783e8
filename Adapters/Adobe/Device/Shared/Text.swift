import PatchbayAdapterKit

/// A host in this vendor's settings, without scheme, port or path.
enum BareHost {
    /// Returns the reason why a text is no such host; nil if it is one.
    static func problem<Settings>(of text: String) -> SettingRow<Settings>.Problem? {
        let allowed = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
            default: false
            }
        }
        guard !allowed else { return nil }
        return .init(
            "The value is not a bare host name.",
            "Write only the host name, without https://, port, slash or path."
        )
    }
}

extension SettingRow {
    /// A bare host.
    static func host(
        _ name: String,
        _ path: any WritableKeyPath<Settings, String> & Sendable,
        isRequired: Bool = false,
        default defaultText: String = "",
        rule: RuleID,
        _ summary: String
    ) -> SettingRow {
        .text(name, path, isRequired: isRequired, default: defaultText, rule: rule, summary) {
            BareHost.problem(of: $0)
        }
    }
}
