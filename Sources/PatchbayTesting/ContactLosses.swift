import PatchbayAdapterKit
import PatchbayModel

/// The differences between a contact and its copy that was read back from a file, with the findings that report them.
struct ContactLosses: Sendable {
    /// The paths, in the written contact, of values that were lost, changed or invented without a finding.
    private(set) var silent: [String] = []
    /// The consent decisions that allow more than the person did. No finding excuses them.
    private(set) var raised: [String] = []

    private let written: Contact
    private let read: Contact
    private let said: [String]

    init(_ written: Contact, read: Contact, findings: [Finding]) {
        (self.written, self.read, said) = (written, read, findings.map(\.path))
        values()
        subscriptions()
        consents()
        devices()
        inventions()
    }

    private mutating func expect(_ isKept: Bool, _ path: String) {
        if !isKept, !isSaid(path) { silent.append(path) }
    }

    /// Returns whether a finding names the path, a parent of it, or a part of it.
    private func isSaid(_ path: String) -> Bool {
        said.contains { finding in
            finding == path || path.hasPrefix("\(finding).") || path.hasPrefix("\(finding)[")
                || finding.hasPrefix("\(path).") || finding.hasPrefix("\(path)[")
        }
    }

    // MARK: Parts

    private mutating func values() {
        for (place, identifier) in written.identifiers.enumerated() {
            expect(read.identifiers.contains { Self.isSame($0, identifier) }, "identifiers[\(place)]")
        }
        for (name, value) in written.attributes.inOrder {
            // A file holds no types: a value counts as present if it can be converted back to its own type without loss.
            expect(Self.isSame(read.attributes[name], value), "attributes.\(name.rawValue)")
        }
        expect(written.tags.isSubset(of: read.tags), "tags")
        expect(written.locale == nil || read.locale == written.locale, "locale")
        expect(written.timeZone == nil || read.timeZone == written.timeZone, "timeZone")
    }

    /// Returns whether a value is present, in its own type or in another type with the same content.
    private static func isSame(_ other: AttributeValue?, _ value: AttributeValue) -> Bool {
        guard let other else { return false }
        return other == value || other.converted(to: value.type) == value
            || [.list, .integer].contains(value.type) && value.converted(to: other.type) == other
    }

    /// Returns whether two identifiers are equal, without regard to separators between a phone number's digits.
    private static func isSame(_ other: Identifier, _ identifier: Identifier) -> Bool {
        func number(_ text: String) -> String { text.filter { $0 == "+" || ("0"..."9").contains($0) } }
        return other == identifier
            || identifier.kind == .phone && other.kind == .phone && number(other.value) == number(identifier.value)
    }

    private mutating func subscriptions() {
        var seen: Set<Subscription.Key> = []
        for (place, subscription) in written.subscriptions.enumerated() {
            let path = "subscriptions[\(place)]"
            guard seen.insert(subscription.key).inserted else {
                expect(false, path)
                continue
            }
            guard let other = read.subscriptions.first(where: { $0.key == subscription.key }) else {
                expect(subscription.state == .unknown && !isSaid(path), path)
                continue
            }
            expect(other.state == subscription.state, "\(path).state")
            expect(subscription.changedAt == nil || other.changedAt == subscription.changedAt, "\(path).changedAt")
            expect(subscription.source == nil || other.source == subscription.source, "\(path).source")
            expect(subscription.evidence == nil || other.evidence == subscription.evidence, "\(path).evidence")
            for (name, value) in subscription.fields.inOrder {
                expect(Self.isSame(other.fields[name], value), "\(path).fields.\(name.rawValue)")
            }
        }
    }

    private mutating func consents() {
        for (place, consent) in written.consents.enumerated() where consent.state != .unknown {
            let path = "consents[\(place)]"
            let other = read.consents.first { $0.scope == consent.scope }
            expect(other?.state == consent.state, path)
            expect(
                other == nil || consent.changedAt == nil || other?.changedAt == consent.changedAt,
                "\(path).changedAt"
            )
        }
    }

    private mutating func devices() {
        for (place, device) in written.devices.enumerated() {
            let path = "devices[\(place)]"
            // A missing device without a token is compared with a device without properties. A device with another token is
            // not the same device.
            let known = read.devices.first { $0.pushToken?.value == device.pushToken?.value }
            guard let other = known ?? (device.pushToken == nil ? Device() : nil) else {
                expect(false, "\(path).pushToken")
                continue
            }
            expect(other.pushToken == device.pushToken, "\(path).pushToken")
            expect(device.facts == nil || other.facts == device.facts, "\(path).facts")
            expect(other.allowsPush == device.allowsPush || isMuted(other), "\(path).allowsPush")
            expect(other.allowsBackgroundPush == device.allowsBackgroundPush, "\(path).allowsBackgroundPush")
            expect(other.allowsLocation == device.allowsLocation, "\(path).allowsLocation")
            expect(other.allowsProximity == device.allowsProximity, "\(path).allowsProximity")
            expect(other.identities == device.identities, "\(path).identities")
        }
    }

    /// Returns whether a device has push disabled because the person opted out. The file expresses that by the subscription.
    private func isMuted(_ device: Device) -> Bool {
        let push = read.subscriptions.filter { $0.channel == .push }
        let said = push.contains { $0.topic == nil } ? push.filter { $0.topic == nil } : push
        return !device.allowsPush && !said.isEmpty && !said.contains { $0.state == .subscribed }
    }

    // MARK: Invented values

    private mutating func inventions() {
        for identifier in read.identifiers where !written.identifiers.contains(where: { Self.isSame(identifier, $0) }) {
            expect(false, "identifiers")
            // A value that already existed under another kind is a duplicate, and adds no new way to identify the person.
            let isChanged = written.identifiers.contains { $0.kind == identifier.kind || $0.value == identifier.value }
            if !isChanged { raised.append("identifiers: a \(identifier.kind.rawValue) that was not written") }
        }
        for name in read.attributes.keys.sorted() where written.attributes[name] == nil {
            raised.append("attributes.\(name.rawValue), which was not written")
        }
        expect(read.tags.isSubset(of: written.tags), "tags")
        for subscription in read.subscriptions
        where subscription.state == .subscribed || subscription.state == .suspended {
            if !isWanted(subscription) { raised.append("subscription to \(subscription.channel.rawValue)") }
        }
        for consent in read.consents where !written.consents.contains(where: { $0.scope == consent.scope }) {
            raised.append("a consent that was not written")
        }
    }

    /// Returns whether the person allowed at least as much as a subscription that was read, and did not deny it.
    private func isWanted(_ subscription: Subscription) -> Bool {
        let states = written.subscriptions.filter { $0.key == subscription.key }.map(\.state)
        let isDenied = written.consents.contains {
            $0.purpose == .messaging && $0.state == .denied && ($0.channel == nil || $0.channel == subscription.channel)
        }
        // If the denial was read back as well, it still applies to the subscription.
        let isStated = read.consents.contains { $0.purpose == .messaging && $0.state == .denied }
        return (states.contains(.subscribed) || states.contains(subscription.state)) && (!isDenied || isStated)
    }
}
