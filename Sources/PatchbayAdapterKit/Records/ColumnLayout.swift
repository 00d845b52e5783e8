public import PatchbayJSON
public import PatchbayModel

/// What a file of delimited text with a header holds of contacts: what each column fills.
///
/// It is the fast way's description of what the format's ``RowReader`` does, which stays the truth: a row that is anything
/// but plain goes to it, and so does the first one, with which a reader may say something of the whole file. A field's text
/// counts without white space at both ends; one that is empty then is no value.
public struct ColumnLayout: Sendable {
    /// What a column fills.
    public enum Role: Sendable {
        /// An identifier. A contact has the external one first, then the others by the names of their kinds.
        case identifier(IdentifierKind)
        /// An attribute of that type.
        case attribute(AttributeName, AttributeType)
        /// The locale.
        case locale
        /// The time zone: a name, or the device's offset from UTC.
        case timeZone
        /// Tags, between the separators of the layout's forms.
        case tags
        /// Whether the contact has a tag.
        case tag(Tag, Words<Bool>)
        /// A part of what the person wants of a channel, or of a topic on it. A word and dates on one thing say what allows
        /// least of what each of them says; of two dates the later counts, and equal ones are a no.
        case wish(Subscription.Key, Wish)
        /// Whether the person forbids a use of the data.
        case denied(Consent.Scope, Words<Bool>)
        /// Nothing.
        case ignored
        /// A part of the contact's device.
        case device(ContactPlace.DevicePart)
    }

    /// What the words of a column mean, by their spelling in lower case; any other is for the reader.
    public typealias Words<Meaning> = [String: Meaning]

    /// A part of what a person wants.
    public enum Wish: Sendable {
        /// By a word; nil is one that says nothing.
        case word(Words<Subscription.State?>)
        /// By the date of a yes or a no.
        case optIn, optOut
        /// When the person said so, and where; nothing by itself.
        case changedAt, source
    }

    /// What a text must look like.
    public enum Form: Sendable {
        /// Anything.
        case any
        /// One @, something before it, and a host with a point behind it; at most 254 characters, no white space.
        case email
        /// Four to fifteen digits, with plus, minus, brackets, points and spaces between them.
        case phone
    }

    /// A column.
    public struct Column: Sendable {
        /// What it fills.
        public var role: Role
        /// The type of an attribute's texts that do not have the form of the role's type; nil where there is no other.
        public var otherwise: AttributeType?
        /// What its text must look like.
        public var form: Form
        /// Whether a row without it is a fault.
        public var isRequired: Bool
        /// Its name in the file's header: a row that needs the column and has that in it, in whatever spelling, is for
        /// the reader, because it may be the header once more.
        public var header = ""
        /// Whether neither the format nor a setting says what the column holds.
        public var isUnexplained = false
        /// How its values are text, where they are not as in other columns.
        public var forms: FieldForms?

        /// Creates a column.
        public init(_ role: Role, form: Form = .any, isRequired: Bool = false) {
            (self.role, self.form, self.isRequired) = (role, form, isRequired)
        }
    }

    /// How the text is written.
    public var dialect: DelimitedDialect
    /// How its characters are bytes. Bulk work converts the bytes to UTF-8 first.
    public var encoding = FileEncoding.utf8
    /// How values are text. A character that is written twice is a backslash or a control: a row that holds it is for the
    /// reader, as is one with a NUL.
    public var forms: FieldForms
    /// What the columns of a header are; the reader has taken the same header.
    public var columns: @Sendable (_ header: [String]) -> [Column]

    /// What every row states besides, whatever it holds: of it and the row's own statement the less permissive applies.
    public var everyRow: [Subscription] = []

    /// Whether the cells of rejected rows get guards against spreadsheet programs.
    package var guardsRejects = false
    /// The country of telephone numbers that name none.
    public var defaultCountry: CountryCode?

    /// The findings of the file's rows, and the name of the vendor's own device id; nil without a contact file.
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

/// A reader of rows that have nothing to do with each other, once it has taken the header.
public protocol RowReader: ContactReader {
    /// Whether it has taken the header: before that it reads no row alone.
    var knowsColumns: Bool { get }

    /// Reads one row, or says what is wrong with one that is none.
    ///
    /// - Parameter row: the row, with its number and line in the file.
    /// - Returns: the record, with a contact or a reason.
    func record(_ row: Result<DelimitedRecord, DelimitedFault>) -> SourceRecord
}
