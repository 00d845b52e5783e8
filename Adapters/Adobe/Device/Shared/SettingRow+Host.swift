import PatchbayAdapterKit

extension SettingRow {
    /// Creates a setting for a bare host name, without scheme, port or path.
    static func host(
        _ name: String,
        _ path: any WritableKeyPath<Settings, String> & Sendable,
        isRequired: Bool = false,
        default defaultText: String = "",
        rule: RuleID,
        _ summary: String
    ) -> SettingRow {
        .text(name, path, isRequired: isRequired, default: defaultText, rule: rule, summary) { text in
            let isHost = text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
                default: false
                }
            }
            return isHost
                ? nil
                : .init(
                    "The value is not a bare host name.",
                    "Write only the host name, without https://, port, slash or path."
                )
        }
    }
}
