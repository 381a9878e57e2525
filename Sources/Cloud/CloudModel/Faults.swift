/// The fourteen error codes of the protocol (web-services.md §6.6); no other goes on the wire.
package enum FaultCode: String, Sendable, CaseIterable {
    case accessDenied = "ACCESS_DENIED"
    case atomicError = "ATOMIC_ERROR"
    case authenticationFailed = "AUTHENTICATION_FAILED"
    case authenticationRequired = "AUTHENTICATION_REQUIRED"
    case badRequest = "BAD_REQUEST"
    case conflict = "CONFLICT"
    case exists = "EXISTS"
    case internalError = "INTERNAL_ERROR"
    case notFound = "NOT_FOUND"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case throttled = "THROTTLED"
    case tryAgainLater = "TRY_AGAIN_LATER"
    case validatingReferenceError = "VALIDATING_REFERENCE_ERROR"
    case zoneNotFound = "ZONE_NOT_FOUND"

    /// The HTTP status when the fault ends the whole request (web-services.md §6.6).
    package var httpStatus: Int {
        switch self {
        case .badRequest, .atomicError: 400
        case .authenticationFailed: 401
        case .accessDenied: 403
        case .notFound, .zoneNotFound: 404
        case .conflict, .exists: 409
        case .validatingReferenceError: 412
        case .quotaExceeded: 413
        case .authenticationRequired: 421
        case .throttled: 429
        case .internalError: 500
        case .tryAgainLater: 503
        }
    }
}

/// What tells apart cases of one code that clients treat differently (rulings.md 48); each is also in the
/// reason, and says no more than that.
package enum FaultDetail: String, Sendable, CaseIterable {
    /// Over a limit of the server's: asking for less at once, or keeping less, helps.
    case limitExceeded
    /// The record is shared, or one above or below it, or its zone.
    case alreadyShared
    case tooManyParticipants
    /// The user has an invitation and is to accept that.
    case participantAlreadyInvited
    /// The user has removed the zone with all data of the app: it is not to come back unasked.
    case zonePurged
    /// The zone went since its keys were lost: its data is to be sent again.
    case encryptedDataReset
    /// The query looks at too much: an index or a narrower filter helps, repeating it does not.
    case queryTooCostly
}

/// What went wrong, for one item of a request or for all of it.
///
/// The reason is for people: it names the key and what was expected, and never another user's data,
/// SQL, a path or a stack (rulings.md 43).
package struct Fault: Error, Sendable, Equatable {
    package let code: FaultCode
    package let reason: String
    package var detail: FaultDetail?
    /// How long a client should wait before it tries again; only with codes that may be retried.
    package var retryAfterSeconds: Int?
    /// Where the user signs in; only with AUTHENTICATION_REQUIRED.
    package var redirectURL: String?
    /// Set when a change token is too old to be continued (rulings.md 28).
    package var isChangeTokenExpired = false
    /// The record as the server has it, as JSON; only with CONFLICT (rulings.md 11).
    package var serverRecord: [UInt8]?
    /// Why it came about; never on the wire.
    package var cause: FaultCause?

    package init(_ code: FaultCode, _ reason: String, detail: FaultDetail? = nil) {
        self.code = code
        self.reason = reason
        self.detail = detail
    }

    /// A name that a request brought, as reasons repeat it: of one that is longer than any legal name only
    /// the beginning.
    package static func shown(_ name: String) -> String {
        name.utf8.count <= 255 ? name : String(name.unicodeScalars.prefix(60)) + "…"
    }

    package static func badRequest(_ reason: String, detail: FaultDetail? = nil) -> Fault {
        Fault(.badRequest, reason, detail: detail)
    }

    /// The same fault, with why it came about.
    package func because(_ cause: FaultCause) -> Fault {
        var fault = self
        fault.cause = cause
        return fault
    }

    /// What tells it from others of its code, as a word of the catalogue; nil where nothing does.
    package var reasonCode: String? { cause?.rawValue ?? detail?.rawValue }

    /// Something is over a limit, which the reason names with its setting.
    package static func limitExceeded(_ reason: String) -> Fault {
        .badRequest(reason, detail: .limitExceeded)
    }

    package static let zoneNotFound = Fault(.zoneNotFound, "Zone does not exist")

    /// Another owner's zone in the private database (rulings.md 26).
    package static let foreignZone = Fault.badRequest(
        "zoneID: the private database has no zones of another owner; use the shared database")

    /// The stored record is not what was written, so that nobody can be shown it.
    ///
    /// It can be deleted, or written anew by `forceReplace`.
    package static let recordUnreadable = Fault(
        .internalError, "the stored record cannot be read")

    package static let recordNotFound = Fault(.notFound, "Record not found")

    /// A query for a record type that the schema does not have (rulings.md 24).
    package static func unknownRecordType(_ name: String) -> Fault {
        Fault(.notFound, "Did not find record type: \(shown(name))")
    }

    /// A transient failure of the machinery: nothing was done, or (after a failed commit) nothing is known.
    package static func tryAgainLater(_ reason: String, seconds: Int = 5) -> Fault {
        var fault = Fault(.tryAgainLater, reason)
        fault.retryAfterSeconds = seconds
        return fault
    }

    /// More of one caller's writes wait than may.
    package static var tooManyWrites: Fault {
        var fault = Fault(.throttled, "too many of your writes wait; send them one after the other")
        fault.retryAfterSeconds = 1
        fault.cause = .workWaiting
        return fault
    }

    package static func changeTokenExpired(_ why: String) -> Fault {
        var fault = Fault(.badRequest, "change token expired: \(why)")
        fault.isChangeTokenExpired = true
        fault.cause = .syncTokenExpired
        return fault
    }

    /// A token that is unreadable, forged or of another place (rulings.md 28).
    package static let unknownToken = Fault(.badRequest, "Unknown sync continuation type")
        .because(.syncTokenUnknown)
}
