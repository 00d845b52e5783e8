import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension ConformanceCheck {
    /// Checks against attacks through an adapter: leaked secrets and redirected requests.
    static let security: [ConformanceCheck] = [
        ConformanceCheck("findings and descriptions contain no secret", "A16") { subject in
            secretDrives(of: subject, withTokens: true) { drive, shows in
                let findings = drive.findings.filter { shows($0.json.text) }.map {
                    "the finding \($0.code) shows a secret."
                }
                let descriptions = drive.descriptions.filter(shows).map { _ in
                    "the description of a memory, a step or a request shows a secret. Store it as a Secret."
                }
                let headers = drive.sent
                    .filter { sent in sent.request.redacted.headers.contains { shows($0.value) } }
                    .map { "a header of \($0.endpoint) contains a secret, but is not marked as secret." }
                return findings + descriptions + headers
            }
        },
        ConformanceCheck("no secret is stored", "A16") { subject in
            secretDrives(of: subject, withTokens: false) { drive, shows in
                drive.stored.contains(where: shows)
                    ? [
                        "a memory, a step or a journaled request contains a secret of the settings or the app. "
                            + "Request it again instead, and mark the header that carries it as secret."
                    ] : []
            }
        },
        ConformanceCheck("the harness names the secrets of the API", "A16") { subject in
            let drives = describedDrives(of: subject).map(\.drive)
            let isNothing = subject.watchedSecrets.isEmpty && subject.watched.isEmpty && subject.handedOut.isEmpty
            let rows: [(isWrong: Bool, text: String)] = [
                (
                    subject.descriptor.delivery.usesCredentials && !subject.hasCredential,
                    "the API uses credentials, but the harness provides none."
                ),
                (
                    isNothing && subject.withoutSecrets == nil,
                    "no secret is checked. Give the harness secrets, or state in secrets.reasonForNone why the API has none."
                ),
                (
                    !isNothing && subject.withoutSecrets != nil,
                    "secrets.reasonForNone states that the API has no secret, but it has one. Remove it."
                ),
            ]
            let handed = Set(drives.flatMap { subject.tokens(in: $0) }.map(\.name))
            let carried = drives.flatMap(\.sent).flatMap { WireStrings.of($0.request) }
            let lacking =
                subject.handedOut.filter { name in !handed.contains { $0.lowercased() == name.lowercased() } }.sorted()
                .map { "no reply contains \($0), which secrets.handedOut names." }
                + subject.watched.filter { text in !carried.contains { $0.contains(text) } }.indices
                .map { "a text of secrets.watched is in no request (missing text \($0 + 1))." }
            if let reason = subject.withoutSecrets {
                print("\(subject.descriptor.id.rawValue): no secret is checked. \(reason)")
            }
            return (rows.filter(\.isWrong).map(\.text) + lacking).map { Problem(subject.descriptor.id.rawValue, $0) }
        },
        ConformanceCheck("no golden contains a secret", "goldens") { subject in
            let secrets = subject.watchedSecrets
            return subject.goldens.outputs.filter { golden in secrets.contains { golden.text.contains($0) } }.map {
                Problem($0.name, "it shows a secret of the settings or the app.")
            }
        },
        ConformanceCheck("no text changes the host or path of a request", "texts") { subject in
            let known = Shape.byEndpoint(subject.usualDrives.flatMap(\.drive.sent))
            return subject.samples.filter { subject.adopts($0) || subject.isRepresentative($0) }.flatMap { sample in
                let lines = subject.drive(sample, against: .accepting).sent.flatMap { sent in
                    [sent.request.url] + sent.request.headers.map(\.value)
                }
                return HostileEdit.all(of: sample, wherePartOf: lines.joined(separator: "\n")).flatMap {
                    edit -> [Problem] in
                    subject.drive(edit) { $0.limit = 8 }.sent.compactMap { sent in
                        let problem: String? =
                            if let fault = sent.request.fault {
                                "\(sent.endpoint) cannot be sent (\(fault.rawValue)). \(fault.remedy)"
                            } else if known[sent.endpoint]?.contains(Shape(sent.request)) == false {
                                "\(sent.endpoint) goes to another host or path. Percent-encode the text."
                            } else {
                                nil
                            }
                        return problem.map { Problem(sample.name, $0) }
                    }
                }
            }
        },
    ]

    /// Returns the problems in the drives of every representative against every kind of vendor. `shows` receives the
    /// secrets and, on demand, the issued tokens and the watched texts.
    private static func secretDrives(
        of subject: any ConformanceSubject,
        withTokens: Bool,
        _ look: (_ drive: Drive, _ shows: (String) -> Bool) -> [String]
    ) -> [Problem] {
        describedDrives(of: subject).flatMap { sample, drive in
            let tokens = withTokens ? subject.watched + subject.tokens(in: drive).map(\.text) : []
            let secrets = subject.watchedSecrets + tokens
            return look(drive) { text in secrets.contains(where: text.holds) }.map { Problem(sample.name, $0) }
        }
    }

    /// Returns the drives of every representative against every kind of vendor, with everything that a log or an outbox
    /// could show.
    private static func describedDrives(of subject: any ConformanceSubject) -> [(sample: Sample, drive: Drive)] {
        subject.representatives.flatMap { sample in
            VendorBehavior.usual.map { (sample, subject.drive(sample, against: $0)) }
        }
    }
}

/// The destination of a request: its host and the number of its path components.
private struct Shape: Hashable {
    let host: String?
    let parts: Int
    let hasFragment: Bool

    init(_ request: WireRequest) {
        let address = WebAddress(request.url)
        host = address?.host
        parts = address?.path.split(separator: "/", omittingEmptySubsequences: false).count ?? 0
        hasFragment = request.url.contains("#")
    }

    static func byEndpoint(_ sent: [Drive.Sent]) -> [String: Set<Shape>] {
        sent.reduce(into: [:]) { $0[$1.endpoint, default: []].insert(Shape($1.request)) }
    }
}

/// A replacement of one text of a sample by a text with a meaning in a URL or a header.
private enum HostileEdit {
    private static let texts = ["..", "/../x?y=1&z#a\r\nEvil: \u{0}é\\@evil.example"]
    /// Members whose texts the app does not choose.
    private static let fixed: Set<String> = ["id", "capturedAt", "appState", "kind", "group"]

    /// Returns one edited sample for each text of the sample that occurs in the URL or the headers of a request.
    static func all(of sample: Sample, wherePartOf shown: String) -> [Sample] {
        let operations = sample.operations.map(\.json)
        return operations.indices.flatMap { place in
            places(in: operations[place]) { shown.contains($0) || shown.contains(URLText.encode($0)) }.flatMap { path in
                texts.compactMap { text in
                    let edited = set(operations[place], path[...], .string(text))
                    guard let operation = try? EngagementOperation(json: edited, at: "") else { return nil }
                    var operations = sample.operations
                    operations[place] = operation
                    return Sample(sample.name, sample.summary, startsAfresh: sample.startsAfresh, operations)
                }
            }
        }
    }

    /// A step into a JSON value.
    private enum Step { case member(String), element(Int) }

    /// Returns the path to each text that matches.
    private static func places(in json: JSONValue, _ counts: (String) -> Bool) -> [[Step]] {
        switch json {
        case .string(let text): text.isEmpty || !counts(text) ? [] : [[]]
        case .array(let elements):
            elements.enumerated().flatMap { place, element in places(in: element, counts).map { [.element(place)] + $0 }
            }
        case .object(let object):
            object.filter { !fixed.contains($0.name) }.flatMap { member in
                places(in: member.value, counts).map { [.member(member.name)] + $0 }
            }
        default: []
        }
    }

    private static func set(_ json: JSONValue, _ path: ArraySlice<Step>, _ value: JSONValue) -> JSONValue {
        guard let step = path.first else { return value }
        switch (step, json) {
        case (.member(let name), .object(var object)):
            object[name] = object[name].map { set($0, path.dropFirst(), value) }
            return .object(object)
        case (.element(let place), .array(var elements)):
            elements[place] = set(elements[place], path.dropFirst(), value)
            return .array(elements)
        default: return json
        }
    }
}

extension String {
    /// Returns whether this text contains the bytes of another. `contains` is slow in a debug build, and there are many
    /// texts.
    fileprivate func holds(_ other: String) -> Bool {
        var (text, other) = (self, other)
        return text.withUTF8 { text in
            other.withUTF8 { other in
                guard let sought = other.baseAddress, !other.isEmpty,
                    var start = text.baseAddress.map(UnsafeRawPointer.init)
                else {
                    return other.isEmpty
                }
                var left = text.count - other.count + 1
                while left > 0, let found = memchr(start, Int32(sought[0]), left) {
                    if memcmp(found, sought, other.count) == 0 { return true }
                    left -= UnsafeRawPointer(found) - start + 1
                    start = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}

extension ConformanceSubject {
    /// The secrets that are long enough to be distinguished from other text.
    fileprivate var watchedSecrets: [String] { secrets.filter { $0.utf8.count >= 4 } }

    /// Returns the tokens that the vendor issued in a drive, each with the name of its member or header.
    fileprivate func tokens(in drive: Drive) -> [(name: String, text: String)] {
        guard !handedOut.isEmpty else { return [] }
        let names = Set(handedOut.map { $0.lowercased() })
        return drive.replies.flatMap { reply in
            reply.headers.map { (name: $0.name, text: $0.value) } + (reply.json.map(members) ?? [])
        }
        .filter { names.contains($0.name.lowercased()) && $0.text.utf8.count >= 4 }
    }

    /// Returns every text member at any depth.
    private func members(of json: JSONValue) -> [(name: String, text: String)] {
        switch json {
        case .array(let elements): elements.flatMap(members)
        case .object(let object):
            object.flatMap { member in
                member.value.string.map { [(name: member.name, text: $0)] } ?? members(of: member.value)
            }
        default: []
        }
    }

    /// Returns whether a sample adopts identities of another program.
    fileprivate func adopts(_ sample: Sample) -> Bool {
        sample.operations.contains { operation in
            if case .registerDevice(let device) = operation.action { !device.identities.isEmpty } else { false }
        }
    }
}
