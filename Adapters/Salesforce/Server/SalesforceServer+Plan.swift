public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforce

extension SalesforceServer {
    /// Returns the verdict of an operation that needs no request; nil if it needs one.
    public func verdictWithoutRequest(_ pending: Pending<Self>) -> Verdict<Self>? {
        switch pending.operation.action {
        case .unregister: .unchanged(ServerFinding.nothingToLeave.at())
        case .identify where cells(of: pending.operation).isEmpty: .unchanged(ServerFinding.keyKnown.at())
        default: nil
        }
    }

    /// Returns the route of an operation's data.
    func route(of operation: EngagementOperation) -> Settings.Route { ServerOptions(operation).route ?? settings.route }

    func cells(of operation: EngagementOperation) -> [ServerCells.Cell] {
        ServerCells(operation, route(of: operation), settings).cells
    }

    // MARK: Requests

    public func tokenRequest(_ memory: Memory) -> WireRequest? {
        ServerRequests(settings: settings, memory: memory).token()
    }

    public func transmission(for head: Pending<Self>, in pending: PendingOperations<Self>, _ memory: Memory)
        -> Transmission<Self>
    {
        let requests = ServerRequests(settings: settings, memory: memory)
        if let job = head.step?.job { return question(for: job, head, pending, requests) }
        switch head.operation.action {
        case .erase:
            let batch = group(of: head, pending, atMost: ServerCells.columnLimit) { $0.action == .erase }
            let keys = batch.map(\.operation.contactKey).eachOnce
            return Transmission(.deleteContacts, requests.deletion(of: keys), carrying: batch)
        case .track:
            guard let record = JourneyRecord(head.operation, settings) else { break }
            return Transmission(.event, requests.event(record), carrying: [head])
        case .readBack(let request):
            let question = RowsQuestion(request) ?? RowsQuestion(ReadRequest(ReadRequest.rows))
            guard let question else { break }
            return Transmission(.readRows, requests.page(question), carrying: [head])
        default: break
        }
        switch route(of: head.operation) {
        case .rows: return rows(head, pending, requests)
        case .asyncRows: return job(head, pending, requests)
        case .contacts: return contact(head, pending, requests)
        }
    }

    /// Returns the operations that share a request with the first one, at the same stage.
    private func group(
        of head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        atMost limit: Int,
        where test: (EngagementOperation) -> Bool
    ) -> [Pending<Self>] {
        group(of: head, in: pending, atMost: limit) { one in
            one.step?.job == nil && one.step?.verb == head.step?.verb && test(one.operation)
        }
    }

    private func isRow(_ operation: EngagementOperation, _ route: Settings.Route) -> Bool {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags, .changeSubscription: self.route(of: operation) == route
        default: false
        }
    }

    private func rows(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let group = group(of: head, pending, atMost: settings.rowsPerRequest) { isRow($0, .rows) }
        var columns: Set<String> = []
        let batch = group.prefix { one in
            columns.formUnion(cells(of: one.operation).map { $0.name.lowercased() })
            return columns.count <= ServerCells.columnLimit || one === head
        }
        return Transmission(.rows, requests.rows(ContactRow.folding(batch, cells)), carrying: batch)
    }

    private func job(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let group = group(of: head, pending, atMost: settings.rowsPerJob) { isRow($0, .asyncRows) }
        // The size of each row with its comma and of the enclosing text. Folding only reduces it.
        var size = #"{"items":[]}"#.utf8.count - 1
        let batch = group.prefix { one in
            var row = ContactRow(key: one.operation.contactKey)
            row.add(one.id, cells(of: one.operation))
            size += JobRecord.item(row, keyColumn: settings.keyColumn).text.utf8.count + 1
            return size <= settings.bytesPerJob || one === head
        }
        return Transmission(.asyncRows, requests.job(ContactRow.folding(batch, cells)), carrying: batch)
    }

    private func contact(_ head: Pending<Self>, _ pending: PendingOperations<Self>, _ requests: ServerRequests)
        -> Transmission<Self>
    {
        let key = head.operation.contactKey
        let group = group(of: head, pending, atMost: settings.rowsPerRequest) {
            isRow($0, .contacts) && ScalarString.equal($0.contactKey, key)
        }
        let verb = head.step?.verb ?? settings.contactsFirst
        var row = ContactRow(key: key)
        for one in group {
            row.add(one.id, cells(of: one.operation))
            row.note(ServerOptions(one.operation).address)
        }
        row.note(settings.defaults(besides: row.cells + row.address))
        return Transmission(
            verb == .create ? .createContact : .updateContact,
            requests.contact(row, verb),
            carrying: group
        )
    }

    /// Returns the query for a job, on behalf of all operations that wait for the same answer.
    private func question(
        for job: String,
        _ head: Pending<Self>,
        _ pending: PendingOperations<Self>,
        _ requests: ServerRequests
    ) -> Transmission<Self> {
        guard head.step?.isDone == true, let row = head.step?.row else {
            let waiting = pending.filter { $0.step?.job == job && $0.step?.isDone != true }
            return Transmission(.asyncStatus, requests.status(of: job), carrying: waiting)
        }
        let page = row / ServerPace.resultsPage
        let waiting = pending.filter { one in
            one.step?.job == job && one.step?.isDone == true
                && one.step?.row.map { $0 / ServerPace.resultsPage } == page
        }
        return Transmission(.asyncResults, requests.results(of: job, page: page + 1), carrying: waiting)
    }
}
