import CloudModel

/// Why a user's data does not sync, by a word for scripts and in plain words with what to do.
package struct SyncCause: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case signInExpired
        case signedOut
        case apiTokenRevoked
        case originNotAllowed
        case wrongClock
        case credentialsRefused
        case quotaFull
        case schemaMissing
        case valueOfOtherType
        case shareLost
        case shareReadOnly
        case endlessConflict
        case staleToken
        case expiredToken
        case lostPush
        case notFetching
        case throttled
        case serverTrouble
    }

    package let kind: Kind
    /// What is wrong, and what to do about it: a sentence each.
    package let problem: String
    package let remedy: String
    /// The devices that it shows on, by their `clientId` or their app.
    package var devices: [String]
    package let since: Milliseconds?

    package init(
        _ kind: Kind, _ problem: String, remedy: String, devices: [String],
        since: Milliseconds? = nil
    ) {
        self.kind = kind
        self.problem = problem
        self.remedy = remedy
        self.devices = devices
        self.since = since
    }

    /// What people read.
    package var text: String { "\(problem) \(remedy)" }
}

/// What the codes and reasons of failed requests mean, and what to do.
package enum FaultMeaning {
    /// - Returns: a sentence on what it means, and one on what to do.
    package static func text(code: String, reason: String?) -> String {
        switch reason {
        case FaultCause.schemaLacksType.rawValue, FaultCause.schemaLacksField.rawValue:
            return "The schema lacks a record type or field. Deploy it with `schema deploy`."
        case FaultCause.valueOfOtherType.rawValue:
            return "A value is of another type than the schema says. Change the app or the schema."
        case FaultCause.syncTokenExpired.rawValue:
            return "The sync token has expired. The app begins again without one."
        case FaultCause.syncTokenUnknown.rawValue:
            return
                "The sync token is another user's, zone's or server's. The app begins without one."
        case FaultCause.quotaUsedUp.rawValue:
            return "There is no room left. Raise the quota, or have the user delete something."
        case FaultCause.participantMayNotWrite.rawValue:
            return "The share lets them read only. Its owner gives them the right to write."
        default: break
        }
        return switch FaultCode(rawValue: code) {
        case .conflict: "Another device saved the record before. The app fetches it and merges."
        case .zoneNotFound: "The zone is not there for them. The app makes it, or forgets it."
        case .notFound: "The record is not there for them. Nothing to do, if it was deleted."
        case .throttled: "Too much at once. The app waits as long as Retry-After says."
        case .tryAgainLater: "The server could not do it then. The app tries again."
        case .internalError: "The server failed. Look for the request's id in the log."
        case .accessDenied: "They may not do this. Look at roles and shares."
        case .badRequest: "The app sent what the protocol does not know. Change the app."
        case .authenticationFailed, .authenticationRequired: "They have to sign in again."
        case .exists: "It is there already. The app fetches it first."
        case .validatingReferenceError: "A record refers to one that is not there."
        case .quotaExceeded: "There is no room left."
        case .atomicError: "Another record of the batch failed."
        case nil: "Not a code of this version."
        }
    }
}
