import PatchbayJSON

/// The verification of the whole file.
extension OutboxMaintenance {
    /// Verifies the file: its structure, every checksum, missing references, every provider's accounts, and the usage counts.
    ///
    /// The check sees a single state of the file, even if other processes write meanwhile. It changes nothing.
    package func verify() throws -> VerifyReport { try store.snapshot(proof) }

    private func proof() throws(OutboxError) -> VerifyReport {
        var report = VerifyReport()
        try checkStructure(&report)
        for table in Table.all {
            report.rowsChecked += Int(try store.connection.number("SELECT count(*) FROM \(table.name)") ?? 0)
            let bad =
                try store.connection.number("SELECT count(*) FROM \(table.name) WHERE NOT \(table.isSound())") ?? 0
            if bad > 0 { report.faults.append(.init(kind: .checksum, detail: "\(table.name): \(bad) rows")) }
        }
        report.operations = Int(try store.connection.number("SELECT count(*) FROM operation") ?? 0)
        report.routes = Int(try store.connection.number("SELECT count(*) FROM route") ?? 0)
        let unrouted =
            try store.connection.number(
                "SELECT count(*) FROM operation o WHERE NOT EXISTS (SELECT 1 FROM route r WHERE r.sequence = o.sequence)"
            ) ?? 0
        if unrouted > 0 {
            report.faults.append(.init(kind: .orphanOperation, detail: "\(unrouted) operations are on no route"))
        }
        let headless =
            try store.connection.number(
                "SELECT count(*) FROM route r WHERE NOT EXISTS (SELECT 1 FROM operation o WHERE o.sequence = r.sequence)"
            ) ?? 0
        if headless > 0 {
            report.faults.append(.init(kind: .orphanRoute, detail: "\(headless) routes have no operation"))
        }
        for (provider, difference) in try store.accounts.balances().inOrder
        where difference != 0 {
            let detail =
                difference > 0
                ? "\(provider): \(difference) operations are neither pending nor booked"
                : "\(provider): \(-difference) operations are pending or booked but were never counted in"
            report.faults.append(.init(kind: .balance, detail: detail))
        }
        let (noted, found) = (try store.accounts.storedUsage(), try store.accounts.countedUsage())
        if let noted, noted != found, !report.faults.contains(where: { $0.kind == .checksum }) {
            let detail = "\(noted) noted, \(found) found"
            report.faults.append(.init(kind: .usage, detail: detail))
        }
        return report
    }

    private func checkStructure(_ report: inout VerifyReport) throws(OutboxError) {
        let statement = try store.connection.statement("PRAGMA integrity_check(100)")
        defer { statement.reset() }
        while try statement.step() {
            let line = statement.text(0)
            if line != "ok" { report.faults.append(.init(kind: .structure, detail: line)) }
        }
    }
}
