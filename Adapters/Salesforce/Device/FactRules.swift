import Foundation
import PatchbayAdapterKit
import PatchbayModel

/// Validates a device's facts. A registration with an invalid fact makes the device inactive (W12).
enum FactRules: Sendable {
    /// The vendor's spelling of platforms, by their names in lower case (W11).
    private static let platforms = ["ios": "iOS", "ipados": "iOS", "android": "Android"]

    /// Returns the vendor's name of a platform; nil if it has none.
    static func platform(_ name: String) -> String? { platforms[name.trimmed.lowercased()] }

    /// Returns a locale in the vendor's spelling: underscores between its parts, and no suffix (W21).
    static func locale(_ text: String) -> String {
        String(text.trimmed.prefix { $0 != "@" && $0 != "." }).replacing("-", with: "_")
    }

    /// Returns the offset from UTC in seconds and whether daylight saving time is in force (W19, W20).
    ///
    /// An app that names its time zone and omits the offset reports an offset of zero. The zone's offset at that date
    /// is then used.
    static func offset(of facts: DeviceFacts, at date: Instant) -> (seconds: Int, isDaylightSaving: Bool) {
        guard facts.utcOffsetSeconds == 0, !facts.isDaylightSaving, let zone = facts.timeZone.flatMap(zone) else {
            return (facts.utcOffsetSeconds, facts.isDaylightSaving)
        }
        let date = Date(timeIntervalSince1970: Double(date.milliseconds) / 1000)
        return (zone.secondsFromGMT(for: date), zone.isDaylightSavingTime(for: date))
    }

    private static func zone(_ name: String) -> TimeZone? { TimeZone(identifier: name.trimmed) }

    /// Returns the findings about facts.
    static func judge(_ facts: DeviceFacts, at date: Instant) -> [Finding] {
        let path = "action.device.facts"
        let texts: [(String, String)] = [
            ("platform", facts.platform), ("platformVersion", facts.platformVersion), ("model", facts.model),
            ("locale", facts.locale), ("appVersion", facts.appVersion),
        ]
        var findings = texts.filter { $0.1.trimmed.isEmpty }.map { FindingRow.deviceFactBlank.at("\(path).\($0.0)") }
        if !facts.platform.trimmed.isEmpty, platform(facts.platform) == nil {
            findings.append(FindingRow.devicePlatform.at("\(path).platform"))
        }
        let locale = locale(facts.locale)
        if !facts.locale.trimmed.isEmpty, !isLocale(locale) {
            findings.append(FindingRow.deviceLocale.at("\(path).locale"))
        } else if locale != facts.locale.trimmed {
            findings.append(FindingRow.deviceLocaleRespelt.at("\(path).locale"))
        }
        if abs(facts.utcOffsetSeconds) >= 86_400 {
            findings.append(FindingRow.deviceOffset.at("\(path).utcOffsetSeconds"))
        } else if offset(of: facts, at: date) != (facts.utcOffsetSeconds, facts.isDaylightSaving) {
            findings.append(FindingRow.deviceZone.at("\(path).timeZone"))
        } else if facts.utcOffsetSeconds == 0, let name = facts.timeZone, zone(name) == nil {
            findings.append(FindingRow.deviceZoneUnknown.at("\(path).timeZone"))
        }
        return findings
    }

    /// Letters, then letters and digits after underscores.
    private static func isLocale(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
        guard let language = parts.first, (2...8).contains(language.count) else { return false }
        return language.allSatisfy(isLetter) && parts.dropFirst().allSatisfy { !$0.isEmpty && $0.allSatisfy(isWord) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }
}
