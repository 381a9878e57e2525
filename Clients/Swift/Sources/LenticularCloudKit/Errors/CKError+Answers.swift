import CloudKitTransport
import CloudKitWire
import Foundation

extension CKError {
    /// What a fault was told of: it decides between errors that share a code on the wire.
    enum Subject {
        case request
        case item
        case zone
    }

    /// Turns what the server said into the native error.
    ///
    /// - Parameter userInfo: beside what the fault itself brings.
    init(_ fault: WireFault, of subject: Subject, userInfo: [String: Any] = [:]) {
        var info = userInfo
        let code = Code(fault, of: subject)
        if let seconds = fault.retryAfterSeconds ?? Self.usualDelay(code) {
            info[CKErrorRetryAfterKey] = NSNumber(value: seconds)
        }
        if fault.detail == "encryptedDataReset" {
            info[CKErrorUserDidResetEncryptedDataKey] = NSNumber(value: true)
        }
        var reason = fault.reason
        if let request = fault.requestID { reason += " (request \(request))" }
        self.init(code, reason, userInfo: info)
    }

    /// What these errors promise to carry, where a server or proxy has left it out.
    private static func usualDelay(_ code: Code) -> Double? {
        switch code {
        case .requestRateLimited, .serviceUnavailable, .zoneBusy: 5
        default: nil
        }
    }

    /// Turns whatever a request threw into the native error.
    init(_ error: any Error) {
        switch error {
        case let error as CKError: self = error
        case let fault as WireFault: self.init(fault, of: .request)
        case let failure as TransportFailure: self.init(failure)
        case is CancellationError:
            self.init(.operationCancelled, "the operation was cancelled")
        default: self.init(.internalError, "\(type(of: error))")
        }
    }

    private init(_ failure: TransportFailure) {
        switch failure {
        case .offline: self.init(.networkUnavailable, "there is no network")
        case .unreachable: self.init(.networkFailure, "the server cannot be reached")
        case .responseLost:
            self.init(
                .serverResponseLost, "the connection broke before the answer; look, then try again")
        case .cancelled: self.init(.operationCancelled, "the operation was cancelled")
        case .unreadable(let status):
            self.init(.internalError, "an answer (\(status)) that is not of the protocol")
        case .notSignedIn: self.init(.notAuthenticated, "nobody is signed in")
        case .badAddress:
            self.init(
                .badContainer,
                "no server is named for the container, or its address cannot be used: name it by "
                    + "CKServerAccess, or in the file of LENTICULAR_SERVICE_FILE")
        }
    }
}

extension CKError.Code {
    fileprivate init(_ fault: WireFault, of subject: CKError.Subject) {
        switch fault.code {
        case "CONFLICT" where fault.detail == "alreadyShared": self = .alreadyShared
        case "CONFLICT", "EXISTS": self = .serverRecordChanged
        case "NOT_FOUND": self = .unknownItem
        case "ZONE_NOT_FOUND":
            self = fault.detail == "zonePurged" ? .userDeletedZone : .zoneNotFound
        case "ATOMIC_ERROR": self = .batchRequestFailed
        case "ACCESS_DENIED": self = .permissionFailure
        case "QUOTA_EXCEEDED": self = .quotaExceeded
        case "VALIDATING_REFERENCE_ERROR": self = .referenceViolation
        case "UNIQUE_FIELD_ERROR": self = .constraintViolation
        case "AUTHENTICATION_REQUIRED", "AUTHENTICATION_FAILED": self = .notAuthenticated
        case "THROTTLED": self = .requestRateLimited
        case "TRY_AGAIN_LATER": self = subject == .zone ? .zoneBusy : .serviceUnavailable
        case "BAD_REQUEST": self.init(badRequest: fault)
        default: self = .internalError
        }
    }

    private init(badRequest fault: WireFault) {
        if fault.isTokenExpired {
            self = .changeTokenExpired
            return
        }
        switch fault.detail {
        case "limitExceeded": self = .limitExceeded
        case "alreadyShared": self = .alreadyShared
        case "tooManyParticipants": self = .tooManyParticipants
        case "participantAlreadyInvited": self = .participantAlreadyInvited
        default: self = .invalidArguments
        }
    }
}
