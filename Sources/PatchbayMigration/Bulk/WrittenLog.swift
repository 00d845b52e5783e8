import PatchbayAdapterKit
import PatchbayModel

/// The properties of a record that a comparison needs in addition to its bytes.
struct RecordTraits: OptionSet, BitwiseCopyable, Sendable {
    let rawValue: UInt8

    /// The contact has a subscription that is not an opt-in, or a denied consent.
    static let optOut = RecordTraits(rawValue: 1)
    /// The contact has a push token.
    static let pushToken = RecordTraits(rawValue: 2)
    /// A finding of severity warning was reported.
    static let warning = RecordTraits(rawValue: 4)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ contact: Contact?, _ findings: [Finding]) {
        self = findings.contains { $0.severity == .warning } ? .warning : []
        guard let contact else { return }
        let isOptOut =
            contact.subscriptions.contains { $0.state != .subscribed }
            || contact.consents.contains { $0.state == .denied }
        if isOptOut { insert(.optOut) }
        if contact.devices.contains(where: { $0.pushToken != nil }) { insert(.pushToken) }
    }

    init(_ view: RecordView, _ vocabulary: UnsafePointer<Vocabulary>) {
        self = []
        for index in 0..<view.subscriptionCount where view.subscriptions[index].state != vocabulary.pointee.subscribed {
            insert(.optOut)
        }
        for index in 0..<view.consentCount where view.consents[index].state == vocabulary.pointee.refused {
            insert(.optOut)
        }
        for index in 0..<view.deviceCount where view.devices[index].hasToken { insert(.pushToken) }
    }
}

/// Receives each record that is written: its number in the source, its bytes and its traits.
typealias RecordFollower = (_ number: Int, _ written: ArraySlice<UInt8>, _ traits: RecordTraits) throws -> Void

/// A record of a job: the number of bytes written for it, and its traits. The number is nil for a rejected record.
struct WrittenRecord: Sendable {
    var count: Int?
    var traits: RecordTraits
}

/// The records of a job, in order, for a follower.
final class WrittenLog {
    private var records: [WrittenRecord] = []

    func add(_ count: Int?, _ traits: RecordTraits) { records.append(WrittenRecord(count: count, traits: traits)) }

    func take() -> [WrittenRecord] {
        defer { records = [] }
        return records
    }
}
