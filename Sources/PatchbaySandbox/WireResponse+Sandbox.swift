import PatchbayAdapterKit
import PatchbayJSON

/// The sandbox's own responses.
extension WireResponse {
    /// Returns a response with a body of a media type and status 200.
    static func bytes(_ body: [UInt8], type: String) -> WireResponse {
        WireResponse(200, headers: [WireHeader("Content-Type", type)], body: body)
    }

    /// Returns a response with JSON and a status.
    static func json(_ value: JSONValue, status: Int = 200) -> WireResponse {
        WireResponse(
            status,
            headers: [WireHeader("Content-Type", "application/json")],
            body: Array((value.text + "\n").utf8)
        )
    }

    /// Returns an error response with the place and the remedy of each problem.
    static func problem(_ status: Int, _ error: SandboxError) -> WireResponse {
        let problems = error.problems.map { problem -> JSONValue in
            [
                "where": .string(problem.place), "problem": .string(problem.problem),
                "remedy": .string(problem.remedy),
            ]
        }
        return .json(["errors": .array(problems)], status: status)
    }

    /// Returns an error response with one problem.
    static func problem(_ status: Int, at place: String, _ problem: String, remedy: String) -> WireResponse {
        .problem(status, SandboxError(.badRequest, at: place, problem, remedy: remedy))
    }

    /// The response for a body that exceeds the limit.
    static let tooLarge = problem(
        413,
        at: "body",
        "larger than the sandbox takes",
        remedy: "Send less at once, or start the sandbox with a higher limit."
    )

    /// Returns the response for a simulator's response whose status or header is invalid in HTTP.
    static func unsendable(_ name: String) -> WireResponse {
        .problem(
            500,
            at: name,
            "this part of the simulator's answer can't be sent",
            remedy: "Keep line ends out of headers, and the status between 200 and 599."
        )
    }
}
