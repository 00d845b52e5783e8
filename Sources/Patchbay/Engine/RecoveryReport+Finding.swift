package import PatchbayAdapterKit
package import PatchbayOutbox

extension RecoveryReport {
    /// The recovery as a finding.
    package var finding: Finding { FindingRow.Engine.outboxRecovered.at(detail: counts) }
}
