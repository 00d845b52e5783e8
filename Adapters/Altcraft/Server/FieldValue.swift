package import PatchbayJSON
package import PatchbayModel

extension AttributeValue {
    /// Reads the JSON of a profile field: text, number, Boolean, list or object, without types; nil for null, and for a number
    /// that can't be represented, alone or in a list or an object.
    package init?(plain json: JSONValue) {
        switch json {
        case .null: return nil
        case .string(let text): self = .string(text)
        case .bool(let flag): self = .boolean(flag)
        case .number(let number):
            if let whole = number.integer {
                self = .integer(whole)
            } else if let decimal = ExactDecimal(number) {
                self = .decimal(decimal)
            } else {
                return nil
            }
        case .array(let elements):
            let there = elements.filter { !$0.isNull }
            let values = there.compactMap(AttributeValue.init(plain:))
            guard values.count == there.count else { return nil }
            self = .list(values)
        case .object(let object):
            var members: [AttributeName: AttributeValue] = [:]
            for member in object where !member.value.isNull {
                guard let value = AttributeValue(plain: member.value) else { return nil }
                members[AttributeName(rawValue: member.name)] = value
            }
            self = .object(members)
        }
    }
}
