import PatchbayAdapterKit

/// A configuration text in which `${NAME}` stands for an environment variable and `$${` for a literal `${`.
struct EnvironmentText {
    /// The text with its variables filled in; nil if a variable cannot be filled in.
    let text: String?
    /// Whether the text names a variable.
    let namesVariable: Bool
    /// The reasons that variables cannot be filled in.
    let problems: [Finding]

    init(_ source: String, environment: [String: String], at path: String) {
        var (text, problems, namesVariable) = ("", [Finding](), false)
        var rest = source[...]
        while let mark = rest.firstRange(of: "${") {
            let before = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            if before.last == "$" {
                text += before.dropLast() + "${"
                continue
            }
            text += before
            namesVariable = true
            guard let end = rest.firstIndex(of: "}"), EnvironmentText.isName(rest[..<end]) else {
                problems.append(ConfigurationFinding.malformedVariable.at(path))
                continue
            }
            let name = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            if let value = environment[name] {
                text += value
            } else {
                problems.append(ConfigurationFinding.unsetVariable.at(path, detail: name))
            }
        }
        self.text = problems.isEmpty ? text + rest : nil
        (self.problems, self.namesVariable) = (problems, namesVariable)
    }

    private static func isName(_ name: Substring) -> Bool {
        guard let first = name.first, !first.isNumber else { return false }
        return name.allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
