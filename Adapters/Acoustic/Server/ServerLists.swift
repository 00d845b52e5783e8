import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A contact that joins a contact list, by its number if known, otherwise by its key (S55).
struct ListMemberRecord: Sendable {
    let list: String
    /// The vendor's number of the contact. It takes precedence over columns, so the key is then omitted.
    let contactID: String?
    let key: ServerCells.Cell

    private var columns: [ServerCells.Cell]? { contactID == nil ? [key] : nil }

    static let table = FieldTable<ListMemberRecord>(
        "AddContactToContactList",
        [
            .required(
                "CONTACT_LIST_ID",
                \.list,
                .text,
                from: "settings.tagLists, settings.subscriptionLists",
                rule: .acoustic("S55")
            ),
            .optional("CONTACT_ID", \.contactID, .text, from: "options.contactId", rule: .acoustic("S55")),
            .optional("COLUMN", \.columns, .cells, from: "contact", rule: .acoustic("S55")),
        ]
    )
}

/// A contact list to create.
struct NewListRecord: Sendable {
    /// The visibility of a list.
    enum Visibility: String, CaseIterable, Sendable {
        case `private`, shared

        /// The vendor's number.
        var code: String { self == .private ? "0" : "1" }
    }

    let database: String
    let list: NewList

    static let table = FieldTable<NewListRecord>(
        "CreateContactList",
        [
            .required("DATABASE_ID", \.database, .text, from: "settings.databaseId", rule: .acoustic("S57")),
            .required("CONTACT_LIST_NAME", \.list.name, .text, from: "request.name", rule: .acoustic("S57")),
            .required("VISIBILITY", \.list.visibility.code, .text, from: "request.visibility", rule: .acoustic("S57")),
            .optional("PARENT_FOLDER_PATH", \.list.folder, .text, from: "request.folder", rule: .acoustic("S57")),
        ]
    )
}

/// The description of a contact list to create.
struct NewList: Sendable {
    let name: String
    let visibility: NewListRecord.Visibility
    let folder: String?

    /// Reads a list from a query's texts. It is private by default, and nil if the texts are invalid.
    init?(_ texts: [String: String]) {
        guard let name = texts["name"],
            let visibility = NewListRecord.Visibility(rawValue: texts["visibility"] ?? "private")
        else { return nil }
        (self.name, self.visibility, folder) = (name, visibility, texts["folder"])
    }
}

extension Subscription {
    /// Returns the contact list of the subscription; nil if the settings name none.
    func list(_ settings: AcousticServerSettings) -> String? {
        settings.subscriptionLists[exactly: AcousticSourceName(rawValue: key.settingName)]
    }
}

extension AcousticServerSettings {
    /// Whether the settings map a tag or a subscription to a contact list.
    var hasLists: Bool { !tagLists.isEmpty || !subscriptionLists.isEmpty }

    /// The findings about the settings of contact lists.
    var listProblems: [Finding] {
        var problems: [Finding] = []
        var owners: [String: String] = [:]
        func judge(_ path: String, _ list: String, isElsewhere: Bool) {
            if !list.isVendorNumber { problems.append(ServerFinding.listNumber.at("settings.\(path)")) }
            if isElsewhere { problems.append(ServerFinding.listElsewhere.at("settings.\(path)")) }
            if let owner = owners.updateValue(path, forKey: list) {
                problems.append(ServerFinding.listTwice.at("settings.\(path)", detail: "the same as \(owner)"))
            }
        }
        for (tag, list) in tagLists.inOrder {
            judge("tagLists".dot(tag.rawValue), list, isElsewhere: tagColumns[tag] != nil)
        }
        for (name, list) in subscriptionLists.inOrder {
            let path = "subscriptionLists".dot(name.rawValue)
            judge(path, list, isElsewhere: subscriptionColumns[name] != nil || consentQualifiers[name] != nil)
            // A person must be able to leave a whole channel, and no call removes a contact from a list.
            if !name.rawValue.contains(".") { problems.append(ServerFinding.listTopic.at("settings.\(path)")) }
        }
        return problems
    }
}

// MARK: Planning and answers

extension AcousticServer {
    /// Returns the contact lists to which an operation adds its contact, in order.
    func lists(of operation: EngagementOperation) -> [String] {
        guard settings.hasLists else { return [] }
        switch operation.action {
        case .changeTags, .changeSubscription: return ServerCells(operation, settings).lists
        default: return []
        }
    }

    /// Whether a call for the contact's row must come before the operation's other requests.
    func needsRow(_ pending: Pending<Self>) -> Bool {
        guard pending.step?.isWritten != true, isWritten(pending.operation) else { return false }
        if pending.step?.isMissing == true || lists(of: pending.operation).isEmpty { return true }
        return !cells(of: pending.operation).isEmpty
    }

    /// Returns the next contact list that the contact joins; nil if its row is written first, or if no list is left.
    func nextList(of pending: Pending<Self>) -> String? {
        let lists = lists(of: pending.operation)
        guard !lists.isEmpty, !needsRow(pending) else { return nil }
        return lists.dropFirst(pending.step?.lists ?? 0).first
    }

    /// The call that adds a contact to a list.
    func member(of list: String, _ head: Pending<Self>, _ requests: ServerRequests) -> Transmission<Self> {
        let record = ListMemberRecord(
            list: list,
            contactID: ServerOptions(head.operation).contactID,
            key: ServerCells.Cell(column: settings.keyColumn, value: head.operation.contactKey)
        )
        return Transmission(.addToList, requests.member(record), carrying: [head])
    }

    /// Handles a contact that has joined a list. It joins the next list, or its operation is complete.
    func interpretMember(_ operations: [Pending<Self>]) -> Interpretation<Self> {
        Interpretation(operations) { pending in
            var step = pending.step ?? Step()
            step.lists = (step.lists ?? 0) + 1
            return step.lists ?? 0 < lists(of: pending.operation).count ? .inProgress(step) : .accepted()
        }
    }

    /// Handles a contact that the database does not have and that can't join a list. Its row is created first, once, if
    /// the settings permit it.
    func interpretUnknownContact(_ operations: [Pending<Self>], _ refusal: Finding) -> Interpretation<Self> {
        Interpretation(operations) { pending in
            var step = pending.step ?? Step()
            let isNamedByKey = ServerOptions(pending.operation).contactID == nil
            guard isNamedByKey, adds(pending.operation), step.isWritten != true, step.isMissing != true else {
                return .rejected(refusal)
            }
            (step.isMissing, step.verb) = (true, .add)
            return .inProgress(step)
        }
    }

    /// Handles a created contact list.
    func interpretList(_ exchange: Exchange<Self>, _ result: XMLTree) -> Interpretation<Self> {
        guard let list = result["CONTACT_LIST_ID"]?.text.trimmed, list.isVendorNumber else {
            return Interpretation(exchange.operations) { _ in .rejected(ServerFinding.listUncertain.at("action")) }
        }
        return Interpretation(exchange.operations) { _ in .accepted(answer: ["contactListId": .string(list)]) }
    }
}
