@testable import PatchbayMigration

extension Migration {
    /// The same migration without the layouts of its formats: their readers and writers handle every record. It is the
    /// reference for the bulk path.
    var withoutLayouts: Migration {
        var migration = self
        (migration.bulk.source, migration.bulk.layout) = (nil, nil)
        return migration
    }

    /// Returns this migration, or the migration without layouts for 0 workers.
    func path(_ workers: Int?) -> Migration { workers == 0 ? withoutLayouts : self }
}
