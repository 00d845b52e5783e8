import PatchbayAdapterKit
import PatchbayModel

extension ConformanceCheck {
    /// Checks that compare the claimed capabilities of an API with its behavior.
    static let claims: [ConformanceCheck] = [
        ConformanceCheck("it takes what it claims", "capabilities") { subject in
            subject.samples.filter(\.isOrdinary).flatMap { sample -> [Problem] in
                let drive = subject.drive(sample, before: .accepting)
                return sample.operations.compactMap { operation in
                    let needs = Capabilities.needs(of: operation)
                    guard needs.allSatisfy({ subject.descriptor.capabilities[$0].isAvailable }) else { return nil }
                    guard let outcome = drive.outcomes[operation.id] else { return nil }
                    guard !outcome.isTaken, !isOvertaken(operation, in: sample) else { return nil }
                    return Problem(
                        sample.name,
                        "it ends \(outcome.word) (\(outcome.finding?.code ?? "no code")), but "
                            + "\(needs.map(\.rawValue).joined(separator: ", ")) are claimed. Take it, or do not claim it."
                    )
                }
            }
        },
        ConformanceCheck("it refuses what it does not claim, with a remedy", "capabilities") { subject in
            subject.samples.flatMap { sample in
                sample.operations.compactMap { operation -> Problem? in
                    let missing = Capabilities.needs(of: operation).filter {
                        !subject.descriptor.capabilities[$0].isAvailable
                    }
                    guard !missing.isEmpty else { return nil }
                    let findings = subject.examine(operation).filter { $0.severity != .note }
                    guard findings.isEmpty else { return nil }
                    return Problem(
                        sample.name,
                        "it needs \(missing.map(\.rawValue).joined(separator: ", ")), which is not claimed, "
                            + "and examine says nothing. Refuse it with a remedy, or claim it."
                    )
                }
            }
        },
        ConformanceCheck("capabilities name every kind", "capabilities") { subject in
            let listed = Set(subject.descriptor.capabilities.listed.map(\.capability))
            return Capability.known.filter { !listed.contains($0) }.map {
                Problem(
                    $0.rawValue,
                    "capabilities do not list it. Say native, emulated, or unsupported with the reason."
                )
            }
        },
        ConformanceCheck("another vendor's push does not enter", "capabilities") { subject in
            let needs: [Capability] = [.event(.push), .push(.tapped)]
            guard needs.allSatisfy({ subject.descriptor.capabilities[$0].isAvailable }) else { return [] }
            let operation = subject.corpus.operation(430, 0, .track(.push(.tapped, payload: Corpus.foreignPush)))
            return subject.examine(operation).contains { $0.severity == .foreign || $0.severity == .error }
                ? []
                : [
                    Problem(
                        "push-foreign",
                        "a push of another vendor enters the route. Give it a finding of severity foreign."
                    )
                ]
        },
    ]
}

/// Returns whether a later change of person in the sample makes an operation obsolete: a vendor need not subscribe a
/// person who has left.
private func isOvertaken(_ operation: EngagementOperation, in sample: Sample) -> Bool {
    guard operation.action.kind == .switchContact,
        let place = sample.operations.firstIndex(where: { $0.id == operation.id })
    else { return false }
    return sample.operations[(place + 1)...].contains {
        $0.action.kind == .switchContact && $0.contact != operation.contact
    }
}
