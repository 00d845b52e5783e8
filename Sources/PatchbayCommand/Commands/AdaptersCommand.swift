import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords

extension Command {
    static let adapters = Command(
        "adapters",
        "List adapters, capabilities and file formats",
        task: .inspect,
        details: """
            An adapter connects to one API of a vendor: a device API serves apps, a server API serves back ends. Without NAME, a
            table counts the capabilities of each adapter. With NAME, each capability is listed as native, emulated (the note
            says how) or unsupported (the note says why), with the limits and file formats.
            """,
        arguments: [
            .optional("NAME", "Adapter or vendor (default: all adapters)")
        ],
        optional: [.rules, .evidence, .json],
        examples: [
            Example("List all adapters and file formats", "patchbay adapters"),
            Example("List one adapter", "patchbay adapters altcraft-server"),
            Example("List the rules of all vendors with their sources", "patchbay adapters --rules"),
        ]
    ) { session in
        let modules = try session.modules()
        let descriptors = modules.flatMap(\.apis).map { $0.descriptor }
        if session.invocation.has(.rules) {
            let evidence = try session.invocation.text(.evidence).map(RuleEvidence.init(path:)) ?? RuleEvidence()
            if let path = session.invocation.text(.evidence), evidence.tests.isEmpty {
                throw UsageError(
                    "\(path) names no test that shows a rule. `make rules` writes Tests/rule-evidence.ndjson."
                )
            }
            try AdaptersReport.rules(of: modules, shownBy: evidence, on: session)
        } else if session.isJSON {
            try session.console.data(.array(modules.flatMap(AdaptersReport.json)))
        } else {
            guard session.invocation.arguments.isEmpty else {
                for module in modules { try AdaptersReport.describe(module, on: session.console) }
                return .fine
            }
            try AdaptersReport.summarize(descriptors, modules.flatMap(\.formats), on: session.console)
        }
        return .fine
    }
}

extension Session {
    /// The modules that the argument names; all without it.
    fileprivate func modules() throws(UsageError) -> [AdapterModule] {
        guard let name = invocation.argument(0) else { return Vendors.modules }
        let found = Vendors.modules.compactMap { module -> AdapterModule? in
            let ids = module.apis.map { $0.descriptor.id.rawValue }
            if ids.contains(where: { $0.prefix { $0 != "-" } == name }) { return module }
            let named = module.apis.filter { $0.descriptor.id.rawValue == name }
            return named.isEmpty ? nil : AdapterModule(id: module.id, title: module.title, apis: named)
        }
        guard found.isEmpty else { return found }
        let known = Vendors.modules.flatMap(\.apis).map { $0.descriptor.id.rawValue }
        let guess = name.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
        throw UsageError(
            "Unknown adapter \"\(name)\".\(guess) Adapters: \(known.joined(separator: ", ")).",
            command: invocation.command.name
        )
    }
}

extension AdapterModule {
    /// The vendor's file formats.
    fileprivate var files: VendorFiles? { Vendors.files.first { $0.id == id } }
    fileprivate var formats: [RecordFormat] { files?.formats ?? [] }

    /// The rules of an API; for the device API named as the vendor, also those of its files.
    fileprivate func rules(of descriptor: AdapterDescriptor) -> [Rule] {
        let own = descriptor.tables.rules
        guard descriptor.id == id, let files else { return own }
        let known = Set(own.map(\.id))
        return own + files.rules.filter { !known.contains($0.id) }
    }

    /// The rules that rows of tables hold: findings, replies and fields.
    fileprivate var rulesOfRows: Set<RuleID> {
        let tables = apis.map { $0.descriptor.tables }
        let findings = (tables.flatMap(\.findings) + (files?.findings ?? [])).compactMap(\.rule)
        let replies = tables.flatMap(\.replies.rows).map(\.rule)
        return Set(findings + replies + tables.flatMap(\.fields).flatMap(\.rows).map(\.rule))
    }
}

extension RecordFormat {
    /// Whether it is read, written or both.
    fileprivate var directions: String {
        [makeReader.map { _ in "read" }, makeWriter.map { _ in "written" }].compactMap(\.self).joined(
            separator: " and "
        )
    }
}

/// The catalogue of the adapters, as text and as JSON.
@MainActor private enum AdaptersReport {
    static func json(of module: AdapterModule) -> [JSONValue] {
        module.apis.map { api in
            let descriptor = api.descriptor
            let capabilities = descriptor.capabilities.listed.map { capability, support -> (String, JSONValue) in
                (capability.rawValue, ["support": .string(support.word), "note": .string(support.note)])
            }
            let limits = descriptor.tables.limits.map { limit -> JSONValue in
                ["what": .string(limit.what), "limit": .string(limit.limit)]
            }
            let formats = module.formats.map { format -> JSONValue in
                [
                    "id": .string(format.id), "title": .string(format.title),
                    "reads": .bool(format.makeReader != nil), "writes": .bool(format.makeWriter != nil),
                ]
            }
            return [
                "id": .string(descriptor.id.rawValue),
                "title": .string(descriptor.title),
                "api": .string(descriptor.side.rawValue),
                "capabilities": .object(JSONObject(capabilities)),
                "limits": .array(limits),
                "formats": .array(formats),
                "rules": .integer(module.rules(of: descriptor).count),
            ]
        }
    }

    /// A line for each adapter and each file format.
    static func summarize(
        _ descriptors: [AdapterDescriptor],
        _ formats: [RecordFormat],
        on console: Console
    ) throws {
        let words = ["native", "emulated", "unsupported"]
        let rows = descriptors.map { descriptor -> [String] in
            let listed = descriptor.capabilities.listed
            return [descriptor.id.rawValue, descriptor.side.rawValue]
                + words.map { word in "\(listed.count { $0.support.word == word })" }
        }
        for line in AccountsText.table([["adapter", "API"] + words] + rows, texts: 2) { try console.data(line) }
        try console.data("")
        let formats = (formats + [.neutralContacts]).map { [$0.id, $0.directions] }
        for line in AccountsText.table([["file format", "use"]] + formats.filter { $0[1] != "" }, texts: 2) {
            try console.data(line)
        }
        try console.data("")
        try console.data("Run `patchbay adapters NAME` for the capabilities, limits and formats of an adapter.")
    }

    static func describe(_ module: AdapterModule, on console: Console) throws {
        for descriptor in module.apis.map({ $0.descriptor }) {
            let id = descriptor.id.rawValue
            try console.data(id, .bold, then: "  \(descriptor.title), \(descriptor.side) API")
            let capabilities = descriptor.capabilities.listed
            let width = capabilities.map(\.capability.rawValue.count).max() ?? 0
            for (capability, support) in capabilities {
                let note = support.note.isEmpty ? "" : "  \(support.note)"
                let word = note.isEmpty ? support.word : support.word.padded(to: 11)
                try console.data("  \(capability.rawValue.padded(to: width))  \(word)\(note)")
            }
            for limit in descriptor.tables.limits { try console.data("  limit: \(limit.what), \(limit.limit)") }
        }
        try describe(module.formats, on: console)
        try console.data("")
    }

    static func describe(_ formats: [RecordFormat], on console: Console) throws {
        for format in formats {
            if format.directions.isEmpty { continue }
            try console.data("  file format \(format.id): \(format.title); is \(format.directions)")
        }
    }

    static func rules(of modules: [AdapterModule], shownBy evidence: RuleEvidence, on session: Session) throws {
        let tests = evidence.tests
        let rules = modules.flatMap { module in
            module.apis.map { $0.descriptor }.flatMap { each in
                module.rules(of: each).map { (adapter: each.id, rule: $0) }
            }
        }
        .sorted { ($0.adapter, $0.rule.id) < ($1.adapter, $1.rule.id) }
        guard session.isJSON else {
            for (_, rule) in rules {
                let shown = tests.isEmpty ? "" : "; \((tests[rule.id] ?? []).count.counted("test"))"
                let rest = "  \(rule.text) [\(rule.source)\(shown)]"
                try session.console.data(rule.id.text, .bold, then: rest)
            }
            return
        }
        let rulesOfRows = Set(modules.flatMap(\.rulesOfRows))
        let list = rules.map { adapter, rule -> JSONValue in
            [
                "adapter": .string(adapter.rawValue), "rule": .string(rule.id.text), "text": .string(rule.text),
                "source": .string(rule.source), "hasRow": .bool(rulesOfRows.contains(rule.id)),
                "tests": .array((tests[rule.id] ?? []).map(JSONValue.string)),
            ]
        }
        try session.console.data(.array(list))
    }
}
