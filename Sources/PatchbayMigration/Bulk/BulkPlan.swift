import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// Everything that a thread needs to map chunks of a source, to be compiled there.
struct BulkPlan: Sendable {
    let layout: LineLayout
    let catalogue: AttributeCatalogue
    let makeReader: @Sendable () throws(SettingsError) -> any ContactReader
    let makeWriter: @Sendable () throws(SettingsError) -> any ContactWriter

    /// A mapper of its own; nil if the reader can't read a record alone.
    func makeMapper() throws(SettingsError) -> LineMapper? {
        guard let reader = try makeReader() as? any RecordReader else { return nil }
        return LineMapper(layout, reader: reader, writer: try makeWriter(), catalogue: catalogue)
    }
}
