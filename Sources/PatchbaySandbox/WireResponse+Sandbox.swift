import PatchbayAdapterKit
import PatchbayJSON

/// The sandbox's own answers.
extension WireResponse {
    /// A body of a media type, with status 200.
    static func bytes(_ body: [UInt8], type: String) -> WireResponse {
        WireResponse(200, headers: [WireHeader("Content-Type", type)], body: body)
    }

    /// JSON with its status.
    static func json(_ value: JSONValue, status: Int = 200) -> WireResponse {
        WireResponse(
            status,
            headers: [WireHeader("Content-Type", "application/json")],
            body: Array((value.text + "\n").utf8)
        )
    }

    /// A refusal that names each problem, its place and its remedy.
    static func problem(_ status: Int, _ error: SandboxError) -> WireResponse {
        let problems = error.problems.map { problem -> JSONValue in
            [
                "where": .string(problem.place), "problem": .string(problem.problem),
                "remedy": .string(problem.remedy),
            ]
        }
        return .json(["errors": .array(problems)], status: status)
    }

    /// A refusal of one problem.
    static func problem(_ status: Int, at place: String, _ problem: String, remedy: String) -> WireResponse {
        .problem(status, SandboxError(.badRequest, at: place, problem, remedy: remedy))
    }

    /// The refusal of a body that is over the limit.
    static let tooLarge = problem(
        413,
        at: "body",
        "larger than the sandbox takes",
        remedy: "Send less at once, or start the sandbox with a higher limit."
    )

    /// The answer when a header or the status of a simulator's answer can't be written to the wire.
    static func unsendable(_ name: String) -> WireResponse {
        .problem(
            500,
            at: name,
            "this part of the simulator's answer can't be sent",
            remedy: "Keep line ends out of headers, and the status between 200 and 599."
        )
    }
}
