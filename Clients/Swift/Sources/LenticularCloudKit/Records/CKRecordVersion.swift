import Foundation

/// Everything of a record but its name and type, as of one version.
struct CKRecordVersion {
    var values: [CKRecord.FieldKey: FieldValue] = [:]
    /// Encrypted values as the server has them.
    var sealed: [CKRecord.FieldKey: Data] = [:]
    var changeTag: String?
    var created: Date?
    var modified: Date?
    var creator: CKRecord.ID?
    var modifier: CKRecord.ID?
    var parent: CKRecord.Reference?
    var share: CKRecord.Reference?
}
