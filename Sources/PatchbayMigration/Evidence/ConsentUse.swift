/// The use that a run makes of the consent decisions of its records.
enum ConsentUse: Sendable {
    /// None.
    case ignored
    /// The keys with decisions are collected for ``DecidedKeys``.
    case keys
    /// The decisions are collected as ``ConsentMark``s.
    case decisions
    /// Opt-ins are lowered by ``EarlierOptOuts``.
    case lowering
}

/// The moment at which a run learns of the opt-outs that lower an opt-in.
enum OptOutKnowledge {
    /// With the records that come before. An opt-in may precede an opt-out, unless `needsAll` is true: such a run fails.
    case inOrder(needsAll: Bool)
    /// Never: the run fails with ``MayContradict`` if records of one person may contradict each other.
    case none
    /// Before the first record, from the file at this path.
    case ahead(String)

    /// The error of a run that must be repeated with all opt-outs known.
    struct MayContradict: Error {}
}

/// The receiver of the decisions of a run.
enum ConsentReceiver {
    case ignored
    case keys(DecidedKeys)
    case decisions(([UInt64]) throws -> Void)
    /// Learns from each record. The opt-outs must be used on one thread.
    case learning(EarlierOptOuts, needsAll: Bool)
    /// The opt-outs that are known from the start.
    case known(Set<UInt64>)

    var use: ConsentUse {
        switch self {
        case .ignored: .ignored
        case .keys: .keys
        case .decisions: .decisions
        case .learning, .known: .lowering
        }
    }

    /// The opt-outs that are known from the start; nil for another use.
    var known: Set<UInt64>? { if case .known(let known) = self { known } else { nil } }

    /// The opt-outs that lower opt-ins; nil if none do.
    var optOuts: EarlierOptOuts? {
        if case .learning(let optOuts, _) = self { optOuts } else { known.map(EarlierOptOuts.init(known:)) }
    }

    /// Whether the receiver needs the decisions of every record, also of those that an earlier run has migrated.
    var needsAllRecords: Bool {
        switch self {
        case .keys, .learning: true
        case .ignored, .decisions, .known: false
        }
    }

    /// Whether one thread must map all records, in order.
    var isOrdered: Bool { if case .learning = self { true } else { false } }
}
