import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of this library's errors.
public let CKErrorDomain = "CKErrorDomain"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// In a partial failure: the items' errors by their IDs.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// In a conflict: the record as the app last fetched it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// In a conflict: the record as the server has it.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// In a conflict: the record that was to be saved.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// After how many seconds to try again.
public let CKErrorRetryAfterKey = "CKRetryAfter"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Present when a zone is gone because its owner reset their encrypted data.
public let CKErrorUserDidResetEncryptedDataKey = "CKErrorUserDidResetEncryptedData"

/// A failure of a request, or of one item of it.
public struct CKError: CustomNSError, _BridgedStoredNSError, Sendable {
    /// The error as Foundation knows it.
    public let _nsError: NSError

    /// Takes over an error of `CKErrorDomain`.
    public init(_nsError error: NSError) {
        precondition(error.domain == CKErrorDomain, "expected an error of \(CKErrorDomain)")
        _nsError = error
    }

    /// The domain of all of these errors.
    public static var errorDomain: String { CKErrorDomain }

    /// The domain of all of these errors.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// The code's native number.
    public var errorCode: Int { _nsError.code }

    /// What the error brings beside its code.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }

    /// What has failed, by the native numbers.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = CKError

        /// The server or this library failed, or an answer could not be read.
        case internalError = 1
        /// Some items failed: `partialErrorsByItemID` says which and why.
        case partialFailure = 2
        /// This device has no network. Nothing was sent.
        case networkUnavailable = 3
        /// The server could not be reached, or did not answer a question in time. Nothing was done.
        case networkFailure = 4
        /// No service is known for the container, or its address cannot be used.
        case badContainer = 5
        /// The server cannot answer now: wait `retryAfterSeconds`.
        case serviceUnavailable = 6
        /// Too many requests: wait `retryAfterSeconds`.
        case requestRateLimited = 7
        /// Never told by this library: programs need no entitlement.
        case missingEntitlement = 8
        /// Nobody is signed in, or the session has ended.
        case notAuthenticated = 9
        /// The signed-in user may not do this.
        case permissionFailure = 10
        /// There is no such record, subscription, share or type.
        case unknownItem = 11
        /// The request makes no sense to the server; the description says why.
        case invalidArguments = 12
        /// Never told by this library: results come in pages.
        case resultsTruncated = 13
        /// Somebody changed the record since it was fetched: `serverRecord`, `clientRecord` and `ancestorRecord` are there to merge.
        case serverRecordChanged = 14
        /// Never told by this library; the server gives a reason of its own.
        case serverRejectedRequest = 15
        /// There is no file at an asset's `fileURL`.
        case assetFileNotFound = 16
        /// The file changed while it was sent: save again.
        case assetFileModified = 17
        /// Never told by this library.
        case incompatibleVersion = 18
        /// A field that must be unique has a value that another record has.
        case constraintViolation = 19
        /// The operation or its task was cancelled.
        case operationCancelled = 20
        /// The token is too old: forget what was fetched, and begin without one.
        case changeTokenExpired = 21
        /// Another record of the same atomic batch failed, so this one was not done.
        case batchRequestFailed = 22
        /// The zone cannot be changed now: wait `retryAfterSeconds`.
        case zoneBusy = 23
        /// The database cannot do this: a share in the public one, say.
        case badDatabase = 24
        /// The owner's space is used up.
        case quotaExceeded = 25
        /// There is no such zone: make it, or forget it. With `CKErrorUserDidResetEncryptedDataKey`, save its records anew.
        case zoneNotFound = 26
        /// More items or bytes than one request may have: send fewer.
        case limitExceeded = 27
        /// The user threw the data of the zone away: forget it, and do not save it again unasked.
        case userDeletedZone = 28
        /// A share has more participants than it may.
        case tooManyParticipants = 29
        /// The record, or one above or below it, is shared already.
        case alreadyShared = 30
        /// A reference leads nowhere, or the record is still needed by others.
        case referenceViolation = 31
        /// Never told by this library.
        case managedAccountRestricted = 32
        /// The signed-in user may be invited under another address: open the link to prove it.
        case participantMayNeedVerification = 33
        /// A change has left, and no answer came, or not in time: it may have been done. Save the same record again,
        /// which goes on from there, or fetch, then decide.
        case serverResponseLost = 34
        /// The asset's file could not be fetched.
        case assetNotAvailable = 35
        /// The account must be confirmed, or this device lacks its key for encrypted values.
        case accountTemporarilyUnavailable = 36
        /// The person who accepts is invited by another link: accept that one.
        case participantAlreadyInvited = 37
    }

    /// What has failed; a number that is not known counts as `internalError`.
    public var code: Code { Code(rawValue: _nsError.code) ?? .internalError }

    /// The items' errors of a partial failure.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// The server's copy in a conflict: merge into it and save it.
    public var serverRecord: CKRecord? {
        userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord
    }

    /// The record that was to be saved, in a conflict.
    public var clientRecord: CKRecord? {
        userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord
    }

    /// The record as the app last fetched or saved it, in a conflict.
    public var ancestorRecord: CKRecord? {
        userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord
    }

    /// When to try again; nil when trying again would not help.
    public var retryAfterSeconds: Double? {
        (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue
            ?? userInfo[CKErrorRetryAfterKey] as? Double
    }

    /// - Parameter reason: what the server or this library says of it; never holds a token.
    init(_ code: Code, _ reason: String, userInfo: [String: Any] = [:]) {
        var info = userInfo
        info[NSLocalizedDescriptionKey] = reason
        self.init(
            _nsError: NSError(domain: CKErrorDomain, code: code.rawValue, userInfo: info))
    }
}

extension CKError {
    /// The code `.internalError`, for `catch`.
    public static var internalError: Code { .internalError }
    /// The code `.partialFailure`, for `catch`.
    public static var partialFailure: Code { .partialFailure }
    /// The code `.networkUnavailable`, for `catch`.
    public static var networkUnavailable: Code { .networkUnavailable }
    /// The code `.networkFailure`, for `catch`.
    public static var networkFailure: Code { .networkFailure }
    /// The code `.badContainer`, for `catch`.
    public static var badContainer: Code { .badContainer }
    /// The code `.serviceUnavailable`, for `catch`.
    public static var serviceUnavailable: Code { .serviceUnavailable }
    /// The code `.requestRateLimited`, for `catch`.
    public static var requestRateLimited: Code { .requestRateLimited }
    /// The code `.missingEntitlement`, for `catch`.
    public static var missingEntitlement: Code { .missingEntitlement }
    /// The code `.notAuthenticated`, for `catch`.
    public static var notAuthenticated: Code { .notAuthenticated }
    /// The code `.permissionFailure`, for `catch`.
    public static var permissionFailure: Code { .permissionFailure }
    /// The code `.unknownItem`, for `catch`.
    public static var unknownItem: Code { .unknownItem }
    /// The code `.invalidArguments`, for `catch`.
    public static var invalidArguments: Code { .invalidArguments }
    /// The code `.resultsTruncated`, for `catch`.
    public static var resultsTruncated: Code { .resultsTruncated }
    /// The code `.serverRecordChanged`, for `catch`.
    public static var serverRecordChanged: Code { .serverRecordChanged }
    /// The code `.serverRejectedRequest`, for `catch`.
    public static var serverRejectedRequest: Code { .serverRejectedRequest }
    /// The code `.assetFileNotFound`, for `catch`.
    public static var assetFileNotFound: Code { .assetFileNotFound }
    /// The code `.assetFileModified`, for `catch`.
    public static var assetFileModified: Code { .assetFileModified }
    /// The code `.incompatibleVersion`, for `catch`.
    public static var incompatibleVersion: Code { .incompatibleVersion }
    /// The code `.constraintViolation`, for `catch`.
    public static var constraintViolation: Code { .constraintViolation }
    /// The code `.operationCancelled`, for `catch`.
    public static var operationCancelled: Code { .operationCancelled }
    /// The code `.changeTokenExpired`, for `catch`.
    public static var changeTokenExpired: Code { .changeTokenExpired }
    /// The code `.batchRequestFailed`, for `catch`.
    public static var batchRequestFailed: Code { .batchRequestFailed }
    /// The code `.zoneBusy`, for `catch`.
    public static var zoneBusy: Code { .zoneBusy }
    /// The code `.badDatabase`, for `catch`.
    public static var badDatabase: Code { .badDatabase }
    /// The code `.quotaExceeded`, for `catch`.
    public static var quotaExceeded: Code { .quotaExceeded }
    /// The code `.zoneNotFound`, for `catch`.
    public static var zoneNotFound: Code { .zoneNotFound }
    /// The code `.limitExceeded`, for `catch`.
    public static var limitExceeded: Code { .limitExceeded }
    /// The code `.userDeletedZone`, for `catch`.
    public static var userDeletedZone: Code { .userDeletedZone }
    /// The code `.tooManyParticipants`, for `catch`.
    public static var tooManyParticipants: Code { .tooManyParticipants }
    /// The code `.alreadyShared`, for `catch`.
    public static var alreadyShared: Code { .alreadyShared }
    /// The code `.referenceViolation`, for `catch`.
    public static var referenceViolation: Code { .referenceViolation }
    /// The code `.managedAccountRestricted`, for `catch`.
    public static var managedAccountRestricted: Code { .managedAccountRestricted }
    /// The code `.participantMayNeedVerification`, for `catch`.
    public static var participantMayNeedVerification: Code { .participantMayNeedVerification }
    /// The code `.serverResponseLost`, for `catch`.
    public static var serverResponseLost: Code { .serverResponseLost }
    /// The code `.assetNotAvailable`, for `catch`.
    public static var assetNotAvailable: Code { .assetNotAvailable }
    /// The code `.accountTemporarilyUnavailable`, for `catch`.
    public static var accountTemporarilyUnavailable: Code { .accountTemporarilyUnavailable }
    /// The code `.participantAlreadyInvited`, for `catch`.
    public static var participantAlreadyInvited: Code { .participantAlreadyInvited }
}
