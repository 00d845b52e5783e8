import PatchbayAdapterKit
import PatchbayModel

extension ConformanceCheck {
    /// Checks with many operations: the drive ends, memory stays small, and only the refused operation is rejected.
    static let endurance: [ConformanceCheck] = [
        ConformanceCheck("all operations complete if the vendor accepts every request", "A5") { subject in
            subject.samples.compactMap { ends($0, subject, .accepting) }
        },
        ConformanceCheck("all operations complete if the vendor refuses every request", "A5") { subject in
            subject.refusal == nil ? [] : subject.samples.compactMap { ends($0, subject, .refusing) }
        },
        ConformanceCheck("many operations complete within the request limit", "A5") { subject in
            manySorts(subject).compactMap { name, operations in
                var script = Script()
                script.limit = 8 * operations.count + 16
                let drive = subject.drive(operations, script)
                guard drive.end != .settled else { return nil }
                let open = operations.count - drive.outcomes.count
                return Problem(name, "\(open) of \(operations.count) operations did not complete: \(drive.end.text).")
            }
        },
        ConformanceCheck("memory does not grow with the number of operations", "A14") { subject in
            manySorts(subject).compactMap { name, operations in
                var script = Script()
                script.limit = 8 * operations.count + 16
                let few =
                    subject.drive(turns: operations.prefix(40).map { Turn(operations: [$0]) }, script).memorySizes.last
                    ?? 0
                let many = subject.drive(turns: operations.map { Turn(operations: [$0]) }, script).memorySizes.last ?? 0
                guard many > few + few / 4 + 512 else { return nil }
                return Problem(
                    name,
                    "memory has \(few) bytes after 40 operations on the same keys and \(many) bytes after 200."
                )
            }
        },
        ConformanceCheck("a refused operation fails alone", "A11") { subject in
            guard let refusal = subject.refusal else { return [] }
            return poisonSorts(subject).flatMap { name, operations -> [Problem] in
                var script = Script()
                script.answer = { call in
                    String(decoding: call.request.body, as: UTF8.self).contains("poison-7")
                        || call.request.url.contains("poison-7") ? .replied(refusal) : nil
                }
                let drive = subject.drive(operations, script)
                let innocent = operations.indices.filter { $0 != 7 }
                let lost = innocent.filter { drive.outcomes[operations[$0].id]?.isTaken != true }
                var problems: [Problem] = []
                if !lost.isEmpty {
                    problems.append(Problem(name, "\(lost.count) of 15 other operations failed with the refused one."))
                }
                if drive.outcomes[operations[7].id]?.isTaken == true {
                    problems.append(Problem(name, "the refused operation counts as accepted."))
                }
                return problems
            }
        },
    ]

    private static func ends(_ sample: Sample, _ subject: any ConformanceSubject, _ behavior: VendorBehavior)
        -> Problem?
    {
        let limit = 8 * sample.operations.count + 16
        let drive = subject.drive(sample, against: behavior)
        switch drive.end {
        case .settled where drive.sent.count <= limit: return nil
        // A fresh installation may wait for its person, and a person may have to act.
        case .waiting where sample.startsAfresh: return nil
        case .suspended where behavior.name == VendorBehavior.refusing.name: return nil
        default:
            let done = sample.operations.count { drive.outcomes[$0.id] != nil }
            return Problem(
                sample.name,
                "\(done) of \(sample.operations.count) operations completed within \(limit) requests: \(drive.end.text)."
            )
        }
    }

    /// Returns 200 operations of each sort that the API claims, on few different keys.
    private static func manySorts(_ subject: any ConformanceSubject) -> [(String, [EngagementOperation])] {
        sorts(subject, count: 200) { number in
            [
                .changeAttributes(["favourite_colour": .set(.string("colour \(number % 7)"))]),
                .changeTags(TagChange(add: ["sports"], remove: number % 2 == 0 ? ["music"] : ["sailing"])),
                .track(.custom(name: "Wishlist Opened")),
            ]
        }
    }

    /// Returns 16 operations of each sort on different keys. The eighth has a recognizable text.
    private static func poisonSorts(_ subject: any ConformanceSubject) -> [(String, [EngagementOperation])] {
        sorts(subject, count: 16) { number in
            [.track(.custom(name: "poison-\(number)")), .track(.messageViewed(messageID: "poison-\(number)"))]
        }
    }

    private static func sorts(
        _ subject: any ConformanceSubject,
        count: Int,
        actions: (Int) -> [Action]
    ) -> [(String, [EngagementOperation])] {
        actions(0).indices.compactMap { sort in
            let operations = (0..<count).map { number in
                subject.corpus.operation(410 + sort, number, actions(number)[sort])
            }
            let isClaimed = Capabilities.needs(of: operations[0]).allSatisfy {
                subject.descriptor.capabilities[$0].isAvailable
            }
            return isClaimed ? (operations[0].action.kind.rawValue, operations) : nil
        }
    }
}

extension Drive.End {
    /// The end as text.
    var text: String {
        switch self {
        case .settled: "all operations completed"
        case .suspended(let finding): "the provider was suspended with \(finding.code)"
        case .waiting(let finding): "the operations wait for \(finding?.code ?? "a wake-up of the lane")"
        case .limit: "the request limit was reached"
        }
    }
}
