import Foundation

/// What somebody is looked for by.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, Sendable {
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

    /// One for each e-mail address.
    public static func lookupInfos(withEmails emails: [String]) -> [CKUserIdentityLookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// One for each phone number.
    public static func lookupInfos(
        withPhoneNumbers phoneNumbers: [String]
    ) -> [CKUserIdentityLookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// One for each person's record.
    public static func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentityLookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    init(emailAddress: String?, phoneNumber: String?, userRecordID: CKRecord.ID?) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.userRecordID = userRecordID
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentityLookupInfo else { return false }
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
