package import PatchbayAdapterKit
package import PatchbayOutbox

extension RecoveryReport {
    /// What a person should know of it.
    package var finding: Finding { FindingRow.Engine.outboxRecovered.at(detail: counts) }
}
