/// How requests and reasons spell system fields (web-services.md §5.10).
extension SystemField {
    /// The name in `systemFieldName`, by which people know the field.
    package var wireName: String {
        switch self {
        case .recordID: "recordName"
        case .createTime: "createdTimestamp"
        case .modTime: "modifiedTimestamp"
        case .createdBy: "createdUserRecordName"
        case .modifiedBy: "modifiedUserRecordName"
        case .etag: "___etag"
        case .parent: "parent"
        case .share: "share"
        }
    }

    /// The system field of a name in any spelling; case counts.
    package init?(spelling: String) {
        // The reference and the schema language differ in this one.
        if spelling == "___recordId" {
            self = .recordID
        } else if let field = SystemField(rawValue: spelling) {
            self = field
        } else if let field = SystemField.allCases.first(where: { $0.wireName == spelling }) {
            self = field
        } else {
            return nil
        }
    }

    /// What its values are compared as.
    package var type: FieldType {
        switch self {
        case .createTime, .modTime: FieldType(.timestamp)
        case .etag: FieldType(.string)
        case .recordID, .createdBy, .modifiedBy, .parent, .share: FieldType(.reference)
        }
    }
}

extension RecordQuery.Subject {
    /// The name by which people know the field.
    package var wireName: String {
        switch self {
        case .field(let name): name.text
        case .system(let field): field.wireName
        }
    }
}
