// Written by `make evidence` from the evidence that the tests leave; don't edit it.
enum RuleEvidence {
    static let ndjson = #"""
        """#
}
