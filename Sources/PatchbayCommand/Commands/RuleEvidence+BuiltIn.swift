// Written by `make rules` from a test run; don't edit it.
extension RuleEvidence {
    static let builtInNDJSON = #"""
        """#
}
