import PatchbayMigration

/// The code that only the start of a long work needs: it would be a quarter of the work's memory. What goes on comes again from the
/// program's file.
struct StartCode {
    private var isHeld = true

    /// Gives back what has run so far, when the work is about to begin.
    init() { FreeMemory.giveBackCode() }

    /// Gives back what the work's own start needed, once records are through.
    mutating func giveBack(after records: Int) {
        guard isHeld, records > 0 else { return }
        isHeld = false
        FreeMemory.giveBackCode()
    }
}
