public import PatchbayJSON
public import PatchbayModel

/// One API of one vendor: a value with pure transitions. The engine does everything else.
///
/// An adapter never does I/O, reads a clock, makes an id or holds hidden state. What must be remembered stands in three
/// places only: the adapter's ``Memory``, an operation's ``Step``, and the engine's own columns. `plan` may be called at
/// any moment and decides from values alone.
public protocol VendorAdapter: Sendable {
    /// What a configuration may say. A device API's settings have no place for a server's secret.
    associatedtype Settings: AdapterSettings
    /// Every kind of request it makes.
    associatedtype Endpoint: AdapterEndpoint
    /// What it remembers, per lane or per provider (`descriptor.memory`).
    associatedtype Memory: AdapterMemory = NoMemory
    /// What it remembers per operation: how far a talk of several requests has got.
    associatedtype Step: Codable & Sendable & Equatable = Never

    /// What it is, can do and knows: id, capabilities, limits, tables.
    static var descriptor: AdapterDescriptor { get }

    /// Most operations that one plan looks at, where the settings want fewer than the descriptor says: what no request can
    /// carry would be read in vain.
    var window: Int { get }

    /// An adapter with these settings.
    ///
    /// - Throws: ``SettingsError`` with every problem that shows only when settings are seen together.
    init(settings: Settings) throws(SettingsError)

    /// Looks at an operation once, on its way into the route, and says all that is wrong with it.
    ///
    /// An error rejects it for this route; `.foreign` says that it is another vendor's and does not enter at all.
    func examine(_ operation: EngagementOperation) -> [Finding]

    /// Returns what is wrong with a contact's credential as far as its form shows, without its value; nil if nothing is.
    ///
    /// `patchbay check` and `Configuration` report it when a configuration is loaded. The default is nil.
    func examine(_ credential: Secret) -> Finding?

    /// Names the operation's lane and queue, and a consent that it also needs. Depends on operation and settings only.
    func place(_ operation: EngagementOperation) -> Place

    /// Whether memory belongs to another account or app of the vendor than the settings name.
    ///
    /// The engine asks when settings have changed. It then captures the installation's registration and its person's
    /// identifiers once more, behind what is pending. The default is false.
    func mustRegisterAgain(_ memory: Memory) -> Bool

    /// Looks at a window of pending operations and says: send, settle or wait.
    func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self>

    /// Looks at a finished exchange and gives each carried operation a verdict.
    func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>

    /// Turns stored state of an older version into the present form.
    static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue
}

extension VendorAdapter {
    /// As many as the descriptor says.
    public var window: Int { Self.descriptor.window }
    public func examine(_ operation: EngagementOperation) -> [Finding] { [] }
    public func examine(_ credential: Secret) -> Finding? { nil }
    /// An adapter without accounts of its own never has to.
    public func mustRegisterAgain(_ memory: Memory) -> Bool { false }
    public func place(_ operation: EngagementOperation) -> Place { Place(lane: operation.subject.rawValue) }
    public static func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue { state }
}

/// The requests an adapter makes, as one enum of strings.
public protocol AdapterEndpoint: RawRepresentable, Hashable, CaseIterable, Sendable where RawValue == String {
    /// Whether a send must not be forgotten, because a repeat does harm or a rule counts it.
    ///
    /// After a crash in mid-flight the engine asks `interpret` (interrupted) first; otherwise it simply plans again.
    var isJournaled: Bool { get }
}

extension AdapterEndpoint {
    public var isJournaled: Bool { false }
}

/// What an adapter remembers; `init()` is nothing known.
public protocol AdapterMemory: Codable, Sendable, Equatable {
    /// Nothing known.
    init()

    /// What may be kept when the person is forgotten: the vendor's pacing, nothing of a person. The default is nothing.
    var afterErase: Self { get }

    /// Returns the memory without what a denied purpose and channel cover.
    ///
    /// The engine calls it once for every scope that becomes denied. Keep what the scope does not cover, the vendor's
    /// identity of the device, its pacing, and whatever an opt-out or an unregister needs: both are sent although the
    /// purpose is denied. If the result differs from the stored memory, the engine sends again what is still allowed.
    ///
    /// The result must not depend on the order of denials: applying several scopes in any order gives the same memory.
    ///
    /// - Parameter scope: The purpose, and the channel if the denial is limited to one.
    /// - Returns: The memory to keep. The default is ``afterErase``.
    func afterDenial(of scope: Consent.Scope) -> Self

    /// Returns the memory without an erased contact who used the installation before.
    ///
    /// The engine calls it where the contact's text is in the stored memory and another person uses the installation. Keep
    /// what concerns others, and what ends a subscription that the vendor may still have. The default changes nothing: an
    /// adapter whose memory names contacts implements it.
    func withoutContact(_ contact: String) -> Self

    /// The contacts under whose credentials the vendor may hold a registration or a subscription of this installation; nil
    /// stands for the anonymous one.
    ///
    /// When the provider is left, the engine makes one unregister for each of them, beside one for the current contact, so
    /// that each has its own credential. Only adapters that use credentials need it. The default is empty.
    var registeredContacts: [String?] { get }
}

extension AdapterMemory {
    public var afterErase: Self { Self() }
    public func afterDenial(of scope: Consent.Scope) -> Self { afterErase }
    public func withoutContact(_ contact: String) -> Self { self }
    public var registeredContacts: [String?] { [] }
}

/// The memory of an adapter that needs none.
public struct NoMemory: AdapterMemory {
    public init() {}
}

/// A value of the neutral model in an adapter's memory: stored as its JSON text, and read once when the memory is loaded,
/// not at every plan.
public struct Remembered<Value: NeutralValue>: Codable, Sendable, Equatable {
    /// Held by reference, because a memory is copied at every plan; not as an optional, whose content would be copied to
    /// look at a part of it.
    @usableFromInline final class Content: Sendable {
        @usableFromInline let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let json: JSONValue
    @usableFromInline let content: Content?

    /// A value to remember.
    public init(_ value: Value) { (json, content) = (value.json, Content(value)) }

    /// The value; nil if what is stored is none any more.
    @inlinable public var value: Value? { content?.value }

    /// What `body` finds in the value, without a copy of it; nil if what is stored is no value any more.
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

/// Which stored state.
public enum StatePart: String, Sendable {
    /// An adapter's memory.
    case memory
    /// An operation's step.
    case step
}

/// Where an operation waits: one request in flight per lane, order and blocking per queue in it.
///
/// Subjects that look alike, as é in one scalar and in two, are two; as names they would be equal to Swift and different to the
/// outbox. So lanes and queues have names in ASCII: whatever else a name holds is written in percents.
public struct Place: Hashable, Sendable {
    /// The lane. A device has one for its installation; a server API a small pool.
    public let lane: String
    /// The queue in the lane: one per independent stream.
    public let queue: String
    /// False: dropped with a finding while consent is unknown, instead of held.
    public var waitsForConsent: Bool

    /// A place.
    public init(lane: String, queue: String = "", waitsForConsent: Bool = true) {
        (self.lane, self.queue, self.waitsForConsent) = (Self.name(lane), Self.name(queue), waitsForConsent)
    }

    /// The name of the lane or queue that belongs to a text: ASCII, and another for each text. What begins with a percent sign is
    /// written in percents too.
    package static func name(_ text: String) -> String {
        guard text.utf8.first == UInt8(ascii: "%") || !text.allBytes({ $0 < 0x80 }) else { return text }
        return "%" + URLText.encode(text)
    }

    /// A subject's place in a pool of lanes: its queue is its own, its lane the same on every machine and for ever.
    public init(of subject: Subject, inPoolOf lanes: Int) {
        self.init(lane: "pool-\(TextMark.short(subject.rawValue) % UInt64(lanes))", queue: subject.rawValue)
    }
}

/// What time it is, in the words that an adapter may use.
public struct Moment: Hashable, Sendable {
    /// The engine's timeline, which never runs back: for waiting and pacing.
    public var now: Instant
    /// The wall clock: only for what is written on the wire.
    public var date: Instant
    /// The caller asked to send: courtesy delays are skipped, the vendor's pacing is not.
    public var flush: Bool
    /// 0 up to 1 from the injected source: for jitter.
    public var chance: Double

    /// A moment.
    public init(now: Instant, date: Instant, flush: Bool = false, chance: Double = 0.5) {
        (self.now, self.date, self.flush, self.chance) = (now, date, flush, chance)
    }
}
