import Foundation

/// A person, as far as the caller may know them.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// What somebody is looked for by.
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// The person's record in this container; nil when it is not known.
    public let userRecordID: CKRecord.ID?
    /// The person's name, as far as they show it.
    public let nameComponents: PersonNameComponents?
    /// What the person was looked for by, where the caller may know.
    public let lookupInfo: LookupInfo?
    /// Whether the person has an account that the caller may know of.
    public var hasiCloudAccount: Bool { userRecordID != nil }

    init(
        userRecordID: CKRecord.ID?, nameComponents: PersonNameComponents?, lookupInfo: LookupInfo?
    ) {
        self.userRecordID = userRecordID
        self.nameComponents = nameComponents
        self.lookupInfo = lookupInfo
    }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userRecordID, forKey: "UserRecordID")
        coder.encode(nameComponents?.givenName.map { $0 as NSString }, forKey: "GivenName")
        coder.encode(nameComponents?.familyName.map { $0 as NSString }, forKey: "FamilyName")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        var name = PersonNameComponents()
        name.givenName = coder.object(NSString.self, "GivenName").map { String($0) }
        name.familyName = coder.object(NSString.self, "FamilyName").map { String($0) }
        self.init(
            userRecordID: coder.object(CKRecord.ID.self, "UserRecordID"), nameComponents: name,
            lookupInfo: nil)
    }
}
