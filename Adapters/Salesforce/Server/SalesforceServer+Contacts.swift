public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Contacts as rows of the data extension. A query returns text in lower-case columns, without their types.
extension SalesforceServer {
    /// The kind of identifier that is a contact's key.
    public var keyKind: IdentifierKind { .external }

    /// How contacts are queried. Rows can be queried; the attribute sets of contacts can't.
    public var reading: ContactReading? {
        settings.route == .contacts || settings.dataExtension.isEmpty ? nil : .inPages(of: RowsQuestion.mostRows)
    }

    /// No removal: the vendor's erasure removes a contact from the whole enterprise, but not its row from the data
    /// extension.
    public var removal: JSONObject? { nil }

    /// Returns the attribute for a kind of identifier.
    public func attribute(for kind: IdentifierKind) -> AttributeName? {
        settings.identifierColumns[kind].map(AttributeName.init).flatMap {
            settings.attributeNames[$0] == nil ? $0 : nil
        }
    }

    /// Returns the vendor's query for a contact.
    public func question(for wanted: ContactQuestion) -> ReadRequest {
        guard case .page(let page) = wanted else { return ReadRequest(ReadRequest.rows) }
        return ReadRequest(
            ReadRequest.rows,
            arguments: ["page": page ?? 1, "pageSize": .integer(RowsQuestion.mostRows)]
        )
    }

    /// Returns the contacts of a reply.
    public func contacts(in answer: JSONValue, to wanted: ContactQuestion) -> ContactPage {
        let found = (answer["items"]?.array ?? []).compactMap { item -> (key: String, contact: Contact)? in
            let keys = item["keys"]?.object ?? [:]
            let key = keys.first { $0.name.isSameColumn(as: settings.keyColumn) }?.value
            guard let key = key.flatMap({ $0.string ?? $0.number?.text }) else { return nil }
            return (key, contact(key, item["values"]?.object.map { $0.map { ($0.name, $0.value) } } ?? []))
        }
        let page = answer["page"]?.integer ?? 1
        return ContactPage(found, next: answer["isLast"]?.bool == false ? .integer(page + 1) : nil)
    }

    /// Returns the contact that a query would return after the operations.
    public func image(of operations: [EngagementOperation]) -> Contact {
        let row = row(of: operations)
        return contact(row.key, row.cells.map { ($0.name, $0.value) })
    }

    /// Returns the option with the contact's address. The vendor accepts no request about a contact without one (V19).
    public func options(for contact: Contact) -> JSONObject? {
        guard settings.route == .contacts else { return nil }
        func said(_ action: Action) -> [ServerCells.Cell] {
            let key = contact.identifiers.first(keyKind) ?? ""
            let whole = EngagementOperation(
                id: "contact",
                subject: Subject(rawValue: key),
                contact: key,
                capturedAt: Instant(milliseconds: 0),
                action: action
            )
            return ServerCells(whole, .contacts, settings, isPart: true).cells.filter {
                ContactAddress.isInItsSets($0) && ContactAddress.saysSomething($0)
            }
        }
        let attributes = contact.attributes.mapValues(AttributeChange.set)
        let parts = said(.changeAttributes(attributes)).filter(ContactAddress.isPart)
        var row = ContactRow(key: "")
        row.note(parts + said(.identify(contact.identifiers)))
        guard !row.address.isEmpty else { return nil }
        return [ServerOptions.address: .object(JSONObject(row.address.map { ($0.name, $0.value) }))]
    }

    /// Returns the attributes whose columns are cleared.
    public func emptied(by operations: [EngagementOperation]) -> Set<AttributeName> {
        Set(
            row(of: operations).cells.filter { Self.text($0.value) == nil }.compactMap { source(of: $0.name).attribute }
        )
    }

    /// Returns the row after the operations.
    private func row(of operations: [EngagementOperation]) -> ContactRow {
        var row = ContactRow(key: operations.first?.contactKey ?? "")
        for operation in operations { row.add(operation.id, cells(of: operation)) }
        return row
    }

    /// Returns the number of requests for an amount of operations.
    public func work(for amount: ServerAmount) -> [ServerWork] {
        switch settings.route {
        case .rows:
            return [
                ServerWork(
                    "rowset",
                    of: amount.all,
                    atMost: settings.rowsPerRequest,
                    note:
                        "\(settings.rowsPerRequest) words in a request, answered at once; about 2,500 requests a minute"
                )
            ]
        case .asyncRows:
            let jobs = (amount.all + settings.rowsPerJob - 1) / settings.rowsPerJob
            let poll = settings.pollSeconds
            let time = amount.jobTime ?? ServerPace.assumedJob
            let questions = max(1, Int((time / .seconds(poll)).rounded(.up)))
            let source =
                amount.jobTime == nil
                ? "assumed: the vendor documents no time, and {\"to\": {\"jobSeconds\": …}} in the settings says another"
                : "from the settings"
            return [
                ServerWork(
                    "async rows",
                    requests: jobs,
                    note:
                        "a job of \(settings.rowsPerJob) words and at most \(settings.bytesPerJob) bytes; rows of one contact are folded"
                ),
                ServerWork(
                    "async status",
                    requests: jobs * questions,
                    note:
                        "each job is asked for every \(poll) s until it has ended, \(questions) times: one takes \(time.components.seconds) s, \(source); where rows are refused, for their reasons besides, 50 in a request",
                    wait: .seconds(poll * questions)
                ),
            ]
        case .contacts:
            return [
                ServerWork(
                    "contacts",
                    requests: amount.contacts,
                    note: "a request for each contact, two where the first does not fit"
                )
            ]
        }
    }

    // MARK: A row in neutral terms

    private func contact(_ key: String, _ values: [(name: String, value: JSONValue)]) -> Contact {
        var contact = Contact(identifiers: [Identifier(.external, key)])
        for (name, value) in values {
            guard let text = Self.text(value) else { continue }
            switch source(of: name) {
            case .key: continue
            case .identifier(let kind): contact.identifiers.append(Identifier(kind, text))
            case .tag(let tag):
                if AttributeValue(text: text, as: .boolean) == .boolean(true) { contact.tags.insert(tag) }
            case .subscription(let key):
                contact.subscriptions.append(
                    ConsentTable.salesforce.subscription(key, value: text, in: ConsentTable.boolean)
                )
            case .attribute(let name): contact.attributes[name] = .string(text)
            }
        }
        contact.identifiers =
            contact.identifiers.prefix(1) + contact.identifiers.dropFirst().sorted { $0.kind < $1.kind }
        contact.subscriptions.sort { $0.key < $1.key }
        return contact
    }

    /// The meaning of a value.
    private enum Source {
        case key
        case identifier(IdentifierKind)
        case tag(Tag)
        case subscription(Subscription.Key)
        case attribute(AttributeName)

        var attribute: AttributeName? { if case .attribute(let name) = self { name } else { nil } }

        /// Reads a name of the setting `contactAttributes`.
        init(_ name: String) {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            switch (parts.first, parts.count > 1 ? parts[1] : nil) {
            case ("identifier"?, let kind?): self = .identifier(IdentifierKind(rawValue: kind))
            case ("tag"?, let tag?): self = .tag(Tag(rawValue: tag))
            case ("subscription"?, let name?): self = .subscription(Subscription.Key(settingName: name))
            default: self = .attribute(AttributeName(rawValue: name))
            }
        }
    }

    /// Returns the meaning of a column or, on the route of contacts, of an attribute in a set.
    private func source(of name: String) -> Source {
        func key<Key: NeutralKey>(_ columns: [Key: String]) -> Key? {
            columns.filter { $0.value.isSameColumn(as: name) }.keys.min()
        }
        if settings.route == .contacts {
            return Source(
                key(settings.contactAttributes.compactMapValues { AttributeSetPlace($0)?.path })?.rawValue ?? name
            )
        }
        if name.isSameColumn(as: settings.keyColumn) { return .key }
        if let kind = key(settings.identifierColumns) { return .identifier(kind) }
        if let tag = key(settings.tagColumns) { return .tag(tag) }
        if let name = key(settings.subscriptionColumns) {
            return .subscription(Subscription.Key(settingName: name.rawValue))
        }
        return .attribute(key(settings.attributeNames) ?? AttributeName(rawValue: name.lowercased()))
    }

    /// Returns a value as text; nil for null and for an empty text.
    private static func text(_ value: JSONValue) -> String? {
        let text = value.string ?? value.number?.text ?? value.bool.map { $0 ? "true" : "false" } ?? ""
        if text == "True" || text == "False" { return text.lowercased() }
        return text.isEmpty ? nil : text
    }
}
