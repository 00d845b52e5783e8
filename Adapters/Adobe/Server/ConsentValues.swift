package import PatchbayAdapterKit
import PatchbayModel

extension ConsentTable {
    /// Adobe's opt-out flags, in files and in the server API.
    package static let adobe: ConsentTable = {
        let profile = "Campaign Standard documentation: data model of profiles"
        let labels =
            "; Campaign documentation of recipients (nms:recipient): labels and the later spelling denylist"
        func rows(_ fields: [String], _ subject: String, denies: Bool, _ source: String) -> [Row] {
            [
                Row(fields, subject, ["true", "1"], denies ? .denied : .state(.unsubscribed), source),
                Row(fields, subject, ["false", "0"], denies ? .silent : .state(.subscribed), source),
            ]
        }
        return ConsentTable(
            ProfileFlags.channels.flatMap { flag in
                rows([flag.field] + flag.spellings, flag.channel.rawValue, denies: false, profile + labels)
            }
                + rows(
                    [ProfileFlags.all] + ProfileFlags.spellingsOfAll,
                    "messages on every channel",
                    denies: true,
                    profile + labels
                )
                + rows([ProfileFlags.sale], "sale of data", denies: true, profile)
        )
    }()
}
