public import PatchbayJSON
public import PatchbayModel

/// The structure of a delimited text file with a header: which part of a contact each column fills.
///
/// The bulk path uses this description of the format's ``RowReader``, whose results remain authoritative. The reader handles
/// every row that is not plain. It also handles the first row, for which it may report findings about the whole file. White
/// space at the ends of a field is ignored; a field that is then empty has no value.
public struct ColumnLayout: Sendable {
    /// The part of a contact that a column fills.
    public enum Role: Sendable {
        /// An identifier. In a contact, the external identifier comes first, the others are ordered by the names of their
        /// kinds.
        case identifier(IdentifierKind)
        /// An attribute with a type.
        case attribute(AttributeName, AttributeType)
        /// The locale.
        case locale
        /// The time zone: a name, or the device's offset from UTC.
        case timeZone
        /// Tags, separated by the separator of the layout's forms.
        case tags
        /// Whether the contact has a tag.
        case tag(Tag, Words<Bool>)
        /// A part of the consent decision for a channel or a topic. If a consent value and dates contradict each other, the
        /// least permissive one applies. Of two dates the later one applies; equal dates are an opt-out.
        case wish(Subscription.Key, Wish)
        /// Whether the person denies consent to a purpose.
        case denied(Consent.Scope, Words<Bool>)
        /// The column is ignored.
        case ignored
        /// A part of the contact's device.
        case device(ContactPlace.DevicePart)
    }

    /// The meanings of a column's words, by the words in lower case. Other words are left to the reader.
    public typealias Words<Meaning> = [String: Meaning]

    /// A part of a consent decision.
    public enum Wish: Sendable {
        /// A consent value; the meaning nil states nothing.
        case word(Words<Subscription.State?>)
        /// The date of an opt-in or an opt-out.
        case optIn, optOut
        /// The time and the source of the decision, which have no meaning by themselves.
        case changedAt, source
    }

    /// The required form of a text.
    public enum Form: Sendable {
        /// Any text.
        case any
        /// An e-mail address: one @, something before it, and a host with a dot after it; at most 254 characters, no white
        /// space.
        case email
        /// A telephone number: four to fifteen digits, with plus, minus, brackets, dots, and spaces between them.
        case phone
    }

    /// A column.
    public struct Column: Sendable {
        /// The part of a contact that the column fills.
        public var role: Role
        /// The attribute type for texts that do not match the role's type; nil if there is none.
        public var otherwise: AttributeType?
        /// The required form of the texts.
        public var form: Form
        /// Whether a row without a value in the column is an error.
        public var isRequired: Bool
        /// The column's name in the file's header. If a row contains this name in the column, in any spelling, the row is left
        /// to the reader, because it may be a repeated header.
        public var header = ""
        /// Whether neither the format nor a setting defines the meaning of the column.
        public var isUnexplained = false
        /// The text forms of its values, if they differ from other columns.
        public var forms: FieldForms?

        /// Creates a column.
        public init(_ role: Role, form: Form = .any, isRequired: Bool = false) {
            (self.role, self.form, self.isRequired) = (role, form, isRequired)
        }
    }

    /// The dialect of the delimited text.
    public var dialect: DelimitedDialect
    /// The file's encoding. The bulk path first converts the bytes to UTF-8.
    public var encoding = FileEncoding.utf8
    /// The text forms of values. A doubled character is a backslash or a control character. Rows that contain it, or a NUL, are
    /// left to the reader.
    public var forms: FieldForms
    /// Returns the columns for a header that the reader has already accepted.
    public var columns: @Sendable (_ header: [String]) -> [Column]

    /// Consent decisions that apply to every row. If a row has its own decision, the less permissive one applies.
    public var everyRow: [Subscription] = []

    /// Whether the cells of rejected rows are protected against formulas in spreadsheet programs.
    package var guardsRejects = false
    /// The country of telephone numbers without a country code.
    public var defaultCountry: CountryCode?

    /// The findings of the file's rows, and the name of the vendor's own device id; nil if the file is not a contact file.
    package var contactFile: (findings: ContactFileFindings, deviceIdentity: Device.IdentityName)?

    /// Creates a layout.
    public init(
        _ dialect: DelimitedDialect,
        _ forms: FieldForms,
        columns: @escaping @Sendable (_ header: [String]) -> [Column]
    ) {
        (self.dialect, self.forms, self.columns) = (dialect, forms, columns)
    }
}

/// A reader of independent rows, which can be read individually once the header has been read.
public protocol RowReader: ContactReader {
    /// Whether the header has been read. Before that, no row can be read by itself.
    var knowsColumns: Bool { get }

    /// Reads one row, or reports why it is not a valid row.
    ///
    /// - Parameter row: The row, with its number and line in the file.
    /// - Returns: The record, with a contact or the reason why there is none.
    func record(_ row: Result<DelimitedRecord, DelimitedFault>) -> SourceRecord
}
