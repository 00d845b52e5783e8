import PatchbayAdapterKit
import PatchbayModel

extension ConformanceCheck {
    /// Checks that compare the claimed capabilities of an API with its behavior.
    static let claims: [ConformanceCheck] = [
        ConformanceCheck("an operation with claimed capabilities is accepted", "capabilities") { subject in
            subject.samples.filter(\.isOrdinary).flatMap { sample -> [Problem] in
                let drive = subject.drive(sample, against: .accepting)
                return sample.operations.compactMap { operation in
                    let needs = Capabilities.needs(of: operation)
                    guard needs.allSatisfy({ subject.descriptor.capabilities[$0].isAvailable }) else { return nil }
                    guard let outcome = drive.outcomes[operation.id] else { return nil }
                    guard !outcome.isTaken, !isOvertaken(operation, in: sample) else { return nil }
                    return Problem(
                        sample.name,
                        "its outcome is \(outcome.word) (\(outcome.finding?.code ?? "no code")), but "
                            + "\(needs.map(\.rawValue).joined(separator: ", ")) are claimed. Accept it, or do not claim it."
                    )
                }
            }
        },
        ConformanceCheck("an operation without a claimed capability is refused with a remedy", "capabilities") {
            subject in
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
                            + "but examine has no finding. Refuse it with a remedy, or claim it."
                    )
                }
            }
        },
        ConformanceCheck("the descriptor lists every capability", "capabilities") { subject in
            let listed = Set(subject.descriptor.capabilities.listed.map(\.capability))
            return Capability.known.filter { !listed.contains($0) }.map {
                Problem(
                    $0.rawValue,
                    "the descriptor does not list it. Declare it native, emulated, or unsupported with the reason."
                )
            }
        },
        ConformanceCheck("a push message of another vendor is not accepted", "capabilities") { subject in
            let needs: [Capability] = [.event(.push), .push(.tapped)]
            guard needs.allSatisfy({ subject.descriptor.capabilities[$0].isAvailable }) else { return [] }
            let operation = subject.corpus.operation(430, 0, .track(.push(.tapped, payload: Corpus.foreignPush)))
            return subject.examine(operation).contains { $0.severity == .foreign || $0.severity == .error }
                ? []
                : [
                    Problem(
                        "push-foreign",
                        "examine accepts a push message of another vendor. Return a finding of severity foreign."
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
