import PatchbayModel

extension ContactFile {
    /// Whether some file could represent every part of a contact. Its columns are the known ones and those in settings, and
    /// attributes of any name with a type that a column's text may have.
    func canHold(_ sample: Contact) -> Bool {
        let columns = kind.columns + settings.columns.map { column(named: $0.name) }
        let places = Set(columns.map(\.place))
        return sample.identifiers.allSatisfy { places.contains(.identifier($0.kind)) }
            && Set(sample.attributes.values.map(\.type)).isSubset(of: attributeTypes(columns))
            && (sample.tags.isEmpty || places.contains { $0.holdsTags })
            && (sample.locale == nil || places.contains(.locale))
            && (sample.timeZone == nil || places.contains(.timeZone))
            && sample.subscriptions.allSatisfy { wish in
                settings.everyRow.contains { $0.key == wish.key && $0.state == wish.state }
                    || columns.contains { $0.canSay(wish) }
            }
            && sample.consents.allSatisfy { $0.state == .denied && places.contains(.denied($0.scope)) }
            && sample.devices.allSatisfy { device in
                (device.pushToken == nil || places.contains(.device(.pushToken)))
                    && (device.facts == nil || places.contains(.device(.platform)))
            }
    }

    /// Returns the types of attributes. A column that is not known is a text attribute, unless settings define another type.
    private func attributeTypes(_ columns: [ContactColumn]) -> Set<AttributeType> {
        let known = columns.filter { if case .attribute = $0.place { true } else { false } }
        let types = known.flatMap { [type(of: $0)] + [likelyType(of: $0)].compactMap(\.self) }
        return Set([.string] + types + settings.types.values)
    }
}

extension ContactPlace {
    fileprivate var holdsTags: Bool {
        switch self {
        case .tags, .tag: true
        default: false
        }
    }
}

extension ContactColumn {
    /// Whether the column can state a decision. A column for a topic also states a decision about that channel.
    fileprivate func canSay(_ wish: Subscription) -> Bool {
        func fits(_ key: Subscription.Key) -> Bool {
            key.channel == wish.channel && (key.topic == nil) == (wish.topic == nil)
        }
        return switch place {
        case .state(let key, _): fits(key) && states.read.values.contains(wish.state)
        // Blank dates beside a device mean that the decision is unknown.
        case .optIn(let key): fits(key) && (wish.state == .subscribed || wish.state == .unknown && key.channel == .push)
        case .optOut(let key): fits(key) && wish.state == .unsubscribed
        default: false
        }
    }
}
