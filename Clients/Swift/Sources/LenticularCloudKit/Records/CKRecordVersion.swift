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

extension CKRecord {
    var version: CKRecordVersion {
        CKRecordVersion(
            values: values, sealed: sealed, changeTag: recordChangeTag, created: creationDate,
            modified: modificationDate, creator: creatorUserRecordID,
            modifier: lastModifiedUserRecordID, parent: parent, share: share)
    }

    /// Takes a version over, as one that nobody has changed.
    func adopt(_ version: CKRecordVersion) {
        values = version.values
        sealed = version.sealed
        recordChangeTag = version.changeTag
        creationDate = version.created
        modificationDate = version.modified
        creatorUserRecordID = version.creator
        lastModifiedUserRecordID = version.modifier
        parent = version.parent
        share = version.share
        isParentChanged = false
    }
}
