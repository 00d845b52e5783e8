public import PatchbayJSON
public import PatchbayModel

/// Maps operations to one vendor API.
///
/// An adapter is a pure value. It performs no I/O, reads no clock, generates no identifiers, and has no hidden state; the
/// engine does all of that. State that must survive between calls is explicit:
///
/// - ``Memory``: what the adapter knows about the vendor's state, stored per lane or per provider.
/// - ``Step``: the progress of an operation that needs several requests.
///
/// The engine stores everything else in its own columns.
///
/// The engine may call `plan` at any time. Its result must depend only on its arguments.
public protocol VendorAdapter: Sendable {
    /// The configurable settings. The settings of a device API must not contain a server's secret.
    associatedtype Settings: AdapterSettings
    /// The kinds of requests that the adapter makes.
    associatedtype Endpoint: AdapterEndpoint
    /// The adapter's memory, per lane or per provider (`descriptor.memory`).
    associatedtype Memory: AdapterMemory = NoMemory
    /// The adapter's state per operation: the progress of a multi-step exchange.
    associatedtype Step: Codable & Sendable & Equatable = Never

    /// The adapter's id, capabilities, limits, and tables.
    static var descriptor: AdapterDescriptor { get }

    /// The maximum number of operations that a plan examines. The default is the descriptor's value. Return a lower number if
    /// the settings limit the size of a request, so that the engine does not read operations in vain.
    var window: Int { get }

    /// Creates an adapter with these settings.
    ///
    /// - Throws: ``SettingsError`` with every problem that concerns a combination of settings.
    init(settings: Settings) throws(SettingsError)

    /// Validates an operation once, before it becomes pending for this provider, and returns all findings.
    ///
    /// A finding of severity `error` rejects the operation for this provider. A finding of severity `.foreign` means that the
    /// operation does not apply to this vendor; it does not become pending.
    func examine(_ operation: EngagementOperation) -> [Finding]

    /// Returns a finding if the form of a contact's credential is invalid; otherwise nil. The finding must not contain its
    /// value.
    ///
    /// `patchbay check` and `Configuration` report it when a configuration is loaded. The default is nil.
    func examine(_ credential: Secret) -> Finding?

    /// Returns the operation's lane and queue, and whether it waits for consent. The result depends only on operation and
    /// settings.
    func place(_ operation: EngagementOperation) -> Place

    /// Whether the memory belongs to another account or app of the vendor than the settings name.
    ///
    /// The engine calls this when the settings have changed. If the result is true, it captures the installation's registration
    /// and the person's identifiers again, after the pending operations. The default is false.
    func mustRegisterAgain(_ memory: Memory) -> Bool

    /// Decides what to do with a window of pending operations: send a request, complete operations without one, or wait.
    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self>

    /// Interprets a finished exchange and returns a verdict for each operation that it carried.
    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>

    /// Converts stored state of an older version to the current form.
    static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue
}

extension VendorAdapter {
    /// The descriptor's window.
    public var window: Int { Self.descriptor.delivery.window }
    public func examine(_ operation: EngagementOperation) -> [Finding] { [] }
    public func examine(_ credential: Secret) -> Finding? { nil }
    /// Returns false, for adapters without accounts of their own.
    public func mustRegisterAgain(_ memory: Memory) -> Bool { false }
    public func place(_ operation: EngagementOperation) -> Place { Place(lane: operation.subject.rawValue) }
    public static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue { state }
}

/// The kinds of requests that an adapter makes, as an enum of strings.
public protocol AdapterEndpoint: RawRepresentable, Hashable, Codable, CaseIterable, Sendable where RawValue == String {
    /// Whether a request must be recorded before it is sent, because repeating it does harm or counts against a rule.
    ///
    /// After a crash during such a request, the engine first calls `interpret` with the outcome `interrupted`. Otherwise it
    /// plans again.
    var isJournaled: Bool { get }
}

extension AdapterEndpoint {
    public var isJournaled: Bool { false }
}

/// The memory of an adapter. `init()` creates a memory without any knowledge of the vendor's state.
public protocol AdapterMemory: Codable, Sendable, Equatable {
    /// Creates an empty memory.
    init()

    /// The memory to keep when the person is erased: the vendor's pacing, but no personal data. The default is an empty memory.
    var afterErase: Self { get }

    /// Returns the memory without what a denied purpose and channel cover.
    ///
    /// The engine calls it once for every scope that becomes denied. Keep what the scope does not cover, the vendor's
    /// identity of the device, its pacing, and whatever an opt-out or an unregistration needs: both are sent although the
    /// purpose is denied. If the result differs from the stored memory, the engine sends again what is still allowed.
    ///
    /// The result must not depend on the order of denials: applying several scopes in any order gives the same memory.
    ///
    /// - Parameter scope: The purpose, and the channel if the denial is limited to one.
    /// - Returns: The memory to keep. The default is ``afterErase``.
    func afterDenial(of scope: Consent.Scope) -> Self

    /// Returns the memory without an erased contact who used the installation before.
    ///
    /// The engine calls this if the contact's text occurs in the stored memory and another person uses the installation. Keep
    /// data about other people, and data that is needed to end a subscription that the vendor may still have. The default
    /// changes nothing. An adapter whose memory contains contact names must implement this method.
    func withoutContact(_ contact: String) -> Self

    /// The contacts under whose credentials the vendor may have a registration or a subscription of this installation; nil
    /// represents the anonymous contact.
    ///
    /// When the provider is removed, the engine makes one unregister operation for each of them, in addition to the one for the
    /// current contact, so that each has its own credential. Only adapters that use credentials need this. The default is
    /// empty.
    var registeredContacts: [String?] { get }
}

extension AdapterMemory {
    /// Returns the memory with a change.
    public func changing(_ change: (inout Self) -> Void) -> Self {
        var memory = self
        change(&memory)
        return memory
    }

    public var afterErase: Self { Self() }
    public func afterDenial(of scope: Consent.Scope) -> Self { afterErase }
    public func withoutContact(_ contact: String) -> Self { self }
    public var registeredContacts: [String?] { [] }
}

/// The memory of an adapter that needs none.
public struct NoMemory: AdapterMemory {
    public init() {}
}

/// A value of the neutral model in an adapter's memory. It is stored as JSON text and decoded once when the memory is loaded,
/// not at every plan.
public struct Remembered<Value: NeutralValue>: Codable, Sendable, Equatable {
    /// A class, because a memory is copied at every plan. It is not an optional, because reading a part of an optional would
    /// copy its content.
    @usableFromInline final class Content: Sendable {
        @usableFromInline let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let json: JSONValue
    @usableFromInline let content: Content?

    /// Creates a value to remember.
    public init(_ value: Value) { (json, content) = (value.json, Content(value)) }

    /// The value; nil if the stored text is no longer valid.
    @inlinable public var value: Value? { content?.value }

    /// Returns the result of `body` for the value without copying it; nil if the stored text is no longer valid.
    @inlinable public func map<Output>(_ body: (borrowing Value) -> Output?) -> Output? {
        if let content { body(content.value) } else { nil }
    }

    public init(from decoder: any Decoder) throws {
        let json = try JSONValue(from: decoder)
        (self.json, content) = (json, (try? Value(json: json, at: "")).map(Content.init))
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    public static func == (left: Remembered, right: Remembered) -> Bool {
        left.content != nil && left.content === right.content || left.json == right.json
    }
}

/// The kinds of stored adapter state.
public enum StatePart: String, Sendable {
    /// An adapter's memory.
    case memory
    /// An operation's step.
    case step
}

/// The lane and queue of an operation. Each lane has one request in flight; order and blocking apply to each queue in it.
///
/// Swift treats strings as equal if they are canonically equivalent (é as one scalar and as two), but the outbox does not. Such
/// subjects are different. Therefore the names of lanes and queues are ASCII; all other characters are percent-encoded.
public struct Place: Hashable, Sendable {
    /// The lane. A device API has one for its installation; a server API has a small pool.
    public let lane: String
    /// The queue in the lane: one for each independent stream of operations.
    public let queue: String
    /// Whether the operation is held while the consent is unknown. If false, it is dropped with a finding.
    public var waitsForConsent: Bool

    /// Creates a place.
    public init(lane: String, queue: String = "", waitsForConsent: Bool = true) {
        (self.lane, self.queue, self.waitsForConsent) = (Self.name(lane), Self.name(queue), waitsForConsent)
    }

    /// Returns the name of a lane or queue for a text. The name is ASCII and unique for each text. A text that begins with a
    /// percent sign is percent-encoded too.
    package static func name(_ text: String) -> String {
        guard text.utf8.first == UInt8(ascii: "%") || !text.allBytes({ $0 < 0x80 }) else { return text }
        return "%" + URLText.encode(text)
    }

    /// Creates the place of a subject in a pool of lanes. The subject has its own queue, and always the same lane on every
    /// machine.
    public init(of subject: Subject, inPoolOf lanes: Int) {
        self.init(lane: "pool-\(TextMark.short(subject.rawValue) % UInt64(lanes))", queue: subject.rawValue)
    }
}

/// The time and related inputs that an adapter may use.
public struct Moment: Hashable, Sendable {
    /// The time on the engine's monotonic timeline, for waiting and pacing.
    public var now: Instant
    /// The wall clock time, only for values on the wire.
    public var date: Instant
    /// Whether the caller requested a flush: optional delays are skipped, the vendor's pacing is not.
    public var flush: Bool
    /// A random number from 0 up to 1, for jitter.
    public var chance: Double

    /// Creates a moment.
    public init(now: Instant, date: Instant, flush: Bool = false, chance: Double = 0.5) {
        (self.now, self.date, self.flush, self.chance) = (now, date, flush, chance)
    }
}
