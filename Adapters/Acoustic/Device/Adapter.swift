public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of Acoustic Campaign (Mobile App Messaging).
///
/// Attribute changes are sent in groups of values or groups of deletes. Values that the vendor already holds are not
/// sent. Events have a stream of their own.
///
/// The vendor processes a group completely or drops it, mostly without an error. Therefore each operation is validated
/// before it is captured, and a refused group is halved until the bad entry is alone.
public struct AcousticDevice: VendorAdapter {
    public typealias Settings = AcousticSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Sets columns.
        case update
        /// Deletes columns' values.
        case delete
        /// Reports events.
        case events
        /// Registers the installation and receives its ids.
        case register
        /// Queries the current ids.
        case phoneHome

        /// The requests that share a back-off (Q3).
        var stream: String {
            switch self {
            case .update, .delete: "attributes"
            case .events: "events"
            case .register, .phoneHome: "registration"
            }
        }
    }

    let settings: AcousticSettings
    /// The base address and the path of every request.
    let addresses: [Endpoint: (base: String, path: URLText.Template)]

    /// An adapter for one app of an account.
    ///
    /// - Throws: ``SettingsError`` if names collide or contradict the columns.
    public init(settings: AcousticSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
        addresses = Dictionary(
            uniqueKeysWithValues: Endpoint.allCases.map { ($0, Self.address(of: settings.profile[$0], settings)) }
        )
    }

    // MARK: Routing

    /// The streams of an installation; each is first in, first out.
    enum Queue: String, CaseIterable {
        /// Registrations of the device.
        case registration
        /// Attributes, tags, and the changes of person between them.
        case attributes
        /// Events, including opt-ins to push.
        case events
        /// Opt-outs of push, which do not wait for other events.
        case optOuts
        /// Operations that need no request.
        case local

        /// Creates the queue with a name. Comparing each name is faster than the switch of `init(rawValue:)`.
        init?(name: String) {
            guard let queue = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
            self = queue
        }
    }

    public func place(_ operation: EngagementOperation) -> Place {
        let queue: Queue
        switch operation.action {
        case .registerDevice: queue = .registration
        case .changeAttributes, .changeTags, .switchContact, .unregister: queue = .attributes
        case .changeSubscription(let subscription): queue = subscription.state == .subscribed ? .events : .optOuts
        case .track: queue = .events
        case .identify, .setConsent, .erase, .readBack: queue = .local
        @unknown default: queue = .local
        }
        return Place(lane: operation.subject.rawValue, queue: queue.rawValue)
    }

    // MARK: Validation

    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let findings = judge(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return findings }
        return findings + Options(operation).findings
    }

    func judge(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify(let identifiers):
            if identifiers.isEmpty { return [FindingRow.identify.at("action.identifiers")] }
            return identifiers.indices.map { FindingRow.identify.at("action.identifiers[\($0)]") }
        case .switchContact(let change):
            return change.direction == .logOut ? [FindingRow.logOut.at("action.switch")] : []
        case .registerDevice(let device): return Identity.judge(device, settings: settings)
        case .changeAttributes(let changes):
            if changes.isEmpty { return [FindingRow.nothing.at("action.changes")] }
            return AttributeRules.judge(changes, settings: settings).findings
        case .changeTags(let change): return TagRules.judge(change, settings: settings)
        case .track, .changeSubscription: return EventRules.judge(operation, settings: settings).findings
        case .readBack(let request):
            return Answer(rawValue: request.what) == nil ? [FindingRow.readUnknown.at("action.read.what")] : []
        case .setConsent, .unregister, .erase: return []
        @unknown default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    /// The queries that this API answers from the installation's own memory, because the vendor answers no queries of
    /// devices (L1).
    enum Answer: String {
        case attributes, tags, ids
    }
}
