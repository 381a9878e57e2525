import Foundation

/// A person, as far as the caller may know them.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: nothing of it changes.

    /// What somebody is looked for by.
    public final class LookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
        /// An e-mail address; nil when the person is looked for by something else.
        public let emailAddress: String?
        /// A phone number; nil when the person is looked for by something else.
        public let phoneNumber: String?
        /// The person's record in this container; nil when it is not known.
        public let userRecordID: CKRecord.ID?

        /// By an e-mail address.
        public convenience init(emailAddress: String) {
            self.init(emailAddress: emailAddress, phoneNumber: nil, userRecordID: nil)
        }

        /// By a phone number.
        public convenience init(phoneNumber: String) {
            self.init(emailAddress: nil, phoneNumber: phoneNumber, userRecordID: nil)
        }

        /// By the person's record.
        public convenience init(userRecordID: CKRecord.ID) {
            self.init(emailAddress: nil, phoneNumber: nil, userRecordID: userRecordID)
        }

        init(emailAddress: String?, phoneNumber: String?, userRecordID: CKRecord.ID?) {
            self.emailAddress = emailAddress
            self.phoneNumber = phoneNumber
            self.userRecordID = userRecordID
        }

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? LookupInfo else { return false }
            return emailAddress == other.emailAddress && phoneNumber == other.phoneNumber
                && userRecordID == other.userRecordID
        }

        public override var hash: Int {
            var hasher = Hasher()
            hasher.combine(emailAddress)
            hasher.combine(phoneNumber)
            return hasher.finalize()
        }

        /// Itself: it does not change.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// True: archives name their classes.
        public static var supportsSecureCoding: Bool { true }

        /// Writes it into an archive.
        public func encode(with coder: NSCoder) {
            coder.encode(emailAddress.map { $0 as NSString }, forKey: "EmailAddress")
            coder.encode(phoneNumber.map { $0 as NSString }, forKey: "PhoneNumber")
            coder.encode(userRecordID, forKey: "UserRecordID")
        }

        /// Reads it from an archive; nil for anything else.
        public convenience init?(coder: NSCoder) {
            self.init(
                emailAddress: coder.object(NSString.self, "EmailAddress").map { String($0) },
                phoneNumber: coder.object(NSString.self, "PhoneNumber").map { String($0) },
                userRecordID: coder.object(CKRecord.ID.self, "UserRecordID"))
        }
    }

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
