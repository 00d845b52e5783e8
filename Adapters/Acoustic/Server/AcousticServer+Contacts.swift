import PatchbayAcoustic
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Contacts as rows of the database. A query returns one contact, with every column as text.
extension AcousticServer {
    /// The kind of identifier that is a contact's key.
    public var keyKind: IdentifierKind { settings.isKeyedByEmail ? .email : .external }
    /// How contacts are queried: one at a time, by key.
    public var reading: ContactReading? { .byKeys(atMost: 1) }

    /// The call that removes a contact from the database only. The vendor's other erasure covers all data of the
    /// person.
    public var removal: JSONObject? { ["erasure": .string(Settings.Erasure.remove.rawValue)] }

    /// A migration writes a contact and its opt-out together. An opt-out whose contact is missing does not wait.
    public func options(for contact: Contact) -> JSONObject? { ["optOutWaits": false] }

    /// Returns the attribute for a kind of identifier.
    public func attribute(for kind: IdentifierKind) -> AttributeName? {
        settings.identifierColumns[exactly: kind].map(AttributeName.init).flatMap {
            settings.attributeNames[exactly: $0] == nil ? $0 : nil
        }
    }

    /// Returns the vendor's query for a contact.
    public func question(for wanted: ContactQuestion) -> ReadRequest { ReadRequest("contact") }

    /// Returns the contacts of a reply.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage {
        guard case .keys(let keys) = wanted, let key = keys.first else { return ContactPage() }
        var columns = (answer["columns"]?.object ?? [:]).map { ($0.name, $0.value.string ?? "") }
        if let email = answer["email"]?.string,
            !columns.contains(where: { ScalarString.equal($0.0, settings.emailColumn) })
        {
            columns.append((settings.emailColumn, email))
        }
        let isOut = !(answer["optedOut"]?.string ?? "").trimmed.isEmpty
        let lists = (answer["contactLists"]?.array ?? []).compactMap(\.string)
        return ContactPage([(key, contact(key, columns, isOut: isOut, lists: lists))])
    }

    /// Returns the contact that a query would return after the operations.
    public func image(of operations: [EngagementOperation]) -> Contact {
        let isOut = operations.contains(where: isOptOut)
        let lists = operations.flatMap(lists)
        return contact(operations.first?.contactKey ?? "", columns(of: operations), isOut: isOut, lists: lists)
    }

    /// Returns the attributes whose columns are cleared.
    public func emptied(by operations: [EngagementOperation]) -> Set<AttributeName> {
        Set(columns(of: operations).filter(\.text.isEmpty).compactMap { attribute(in: $0.name) })
    }

    /// Returns the column values after the operations.
    private func columns(of operations: [EngagementOperation]) -> [(name: String, text: String)] {
        var seen: Set<ScalarString> = []
        let last = operations.flatMap(cells).reversed().filter { seen.insert(ScalarString($0.column)).inserted }
        return last.reversed().map { ($0.column, stored($0.value)) }
    }

    /// A text as the vendor stores it: markup becomes character entities (S21).
    private func stored(_ text: String) -> String {
        guard !settings.allowsHTML, text.contains("<") else { return text }
        return text.replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// Returns the number of requests for an amount of operations.
    public func work(for amount: ServerAmount) -> [ServerWork] {
        let outs = settings.subscriptionColumns["email"] == nil ? amount.optOuts : 0
        return [
            ServerWork(
                "AddRecipient",
                requests: amount.contacts,
                note:
                    "one contact in a call, two calls where it is there already; at most 10 at once, no rate is documented"
            ),
            ServerWork(
                "OptOutRecipient",
                requests: settings.isKeyedByEmail ? outs : 2 * outs,
                note: "a no to e-mail has a call of its own, and where the key is no address one that asks for it"
            ),
        ] + others(amount)
    }

    /// Returns the maximum number of other requests, because the number of subscriptions and tags that need one is
    /// unknown.
    private func others(_ amount: ServerAmount) -> [ServerWork] {
        let changes = amount[.changeSubscription]
        let joins = (settings.tagLists.isEmpty ? 0 : amount[.changeTags]) * settings.tagLists.count
        let rows = [
            ServerWork(
                "consent",
                requests: settings.consentQualifiers.isEmpty ? 0 : 3 * changes,
                note: "at most: a question for the number, one for the consent, and the consent"
            ),
            ServerWork(
                "AddContactToContactList",
                requests: joins + (settings.subscriptionLists.isEmpty ? 0 : amount.topics),
                note: "at most: one for each list that a contact joins"
            ),
        ]
        return rows.filter { $0.requests > 0 }
    }

    // MARK: A row in neutral terms

    private func contact(
        _ key: String,
        _ columns: [(name: String, text: String)],
        isOut: Bool,
        lists: [String]
    ) -> Contact {
        var contact = Contact(identifiers: [Identifier(keyKind, key)])
        for list in lists {
            if let tag = Self.source(settings.tagLists, list) {
                contact.tags.insert(tag)
            } else if let wish = Self.source(settings.subscriptionLists, list) {
                let key = Subscription.Key(settingName: wish.rawValue)
                contact.subscriptions.append(
                    Subscription(channel: key.channel, topic: key.topic, state: .subscribed)
                )
            }
        }
        for (name, text) in columns where !settings.isKey(name) && !text.isEmpty {
            if let kind = Self.source(settings.identifierColumns, name) {
                contact.identifiers.append(Identifier(kind, text))
            } else if let tag = Self.source(settings.tagColumns, name) {
                if text == "Yes" { contact.tags.insert(tag) }
            } else if let wish = Self.source(settings.subscriptionColumns, name) {
                let key = Subscription.Key(settingName: wish.rawValue)
                contact.subscriptions.append(
                    ConsentTable.acoustic.subscription(key, value: text, in: ConsentTable.yesNo)
                )
            } else {
                contact.attributes[attributeName(of: name)] = Self.value(text, settings.columns[ScalarString(name)])
            }
        }
        if isOut {
            let out = Subscription(channel: .email, state: .unsubscribed)
            contact.subscriptions.removeAll { $0.key == out.key }
            contact.subscriptions.append(out)
        }
        contact.subscriptions.sort { $0.key < $1.key }
        contact.identifiers =
            contact.identifiers.prefix(1) + contact.identifiers.dropFirst().sorted { $0.kind < $1.kind }
        return contact
    }

    private static func source<Key: NeutralKey>(_ names: [Key: String], _ column: String) -> Key? {
        names.filter { ScalarString.equal($0.value, column) }.keys.min()
    }

    private func attributeName(of column: String) -> AttributeName {
        Self.source(settings.attributeNames, column) ?? AttributeName(rawValue: column)
    }

    /// Returns the attribute of a column; nil if the column holds other data.
    private func attribute(in column: String) -> AttributeName? {
        let isTaken =
            settings.isKey(column) || settings.identifierColumns.values.containsExactly(column)
            || settings.tagColumns.values.containsExactly(column)
            || settings.subscriptionColumns.values.containsExactly(column)
        return isTaken ? nil : attributeName(of: column)
    }

    /// Converts a column's text to the value that would write it.
    private static func value(_ text: String, _ column: Column?) -> AttributeValue {
        /// `03/09/2031` as the model writes days.
        func day(_ text: some StringProtocol) -> String? {
            let parts = text.split(separator: "/")
            guard parts.count == 3, parts[2].count == 4 else { return nil }
            return "\(parts[2])-\(parts[0])-\(parts[1])"
        }
        let value: AttributeValue? =
            switch column?.type {
            case .yesNo: text == "Yes" ? true : text == "No" ? false : nil
            case .numeric: AttributeValue(text: text, as: .integer) ?? AttributeValue(text: text, as: .decimal)
            case .date: day(text).flatMap { AttributeValue(text: $0, as: .date) }
            case .time: FileTime(text).map { .time($0.time) }
            case .timestamp: FileMoment(text, forms: [.american], zone: "Z").map { .timestamp($0.timestamp) }
            case .country: AttributeValue(text: text, as: .country)
            case .multiSelection: AttributeValue(text: text, as: .choices)
            default: nil
            }
        return value ?? .string(text)
    }
}
