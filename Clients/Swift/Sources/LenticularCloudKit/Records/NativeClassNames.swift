import Foundation

/// The names of Apple's classes in archives, so that what its framework has written can be read where the names
/// alone stand in the way: records' system fields, IDs, references and zones.
enum NativeClassNames {
    /// Touched wherever an archive may be about to be read.
    static let areKnown: Void = {
        #if os(Linux)
            let classes: [(String, AnyClass)] = [
                ("CKRecord", CKRecord.self), ("CKRecordID", CKRecordID.self),
                ("CKRecordZone", CKRecordZone.self), ("CKRecordZoneID", CKRecordZoneID.self),
                ("CKReference", CKReference.self),
            ]
            for entry in classes { NSKeyedUnarchiver.setClass(entry.1, forClassName: entry.0) }
        #endif
    }()
}
