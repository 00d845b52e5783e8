import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension ContactFileSettings {
    /// How an export is written.
    var dialect: DelimitedDialect {
        DelimitedDialect(delimiter: delimiter.byte, quoting: isQuoted ? .whenNeeded : .never)
    }

    /// What ``ContactFileReader`` reads, as data.
    var layout: ColumnLayout { ColumnLayout(dialect) { header in header.map { column(of: target(of: $0)) } } }

    private func column(of target: ColumnTarget) -> ColumnLayout.Column {
        switch target {
        case .identifier(.external): ColumnLayout.Column(.identifier(.external), isRequired: true)
        case .identifier(.email): ColumnLayout.Column(.identifier(.email), form: .email)
        case .identifier(.phone): ColumnLayout.Column(.identifier(.phone), form: .phone)
        case .identifier(let kind): ColumnLayout.Column(.identifier(kind))
        case .attribute(let name): ColumnLayout.Column(.attribute(name, type(of: name)))
        case .locale: ColumnLayout.Column(.locale)
        case .timeZone: ColumnLayout.Column(.timeZone)
        case .ignored: ColumnLayout.Column(.ignored)
        case .deviceID, .pushToken, .platform, .platformVersion, .model, .utcOffset, .locationEnabled, .optInDate,
            .optOutDate:
            ColumnLayout.Column(.unusual)
        }
    }
}
