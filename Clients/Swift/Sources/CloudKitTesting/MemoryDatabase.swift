import CloudKitWire

/// One database of a server in memory.
struct MemoryDatabase {
    /// Who saved a record, when, and from what device.
    struct Stamp {
        let milliseconds: Int64
        let person: String
        /// The device, and behind a slash what it calls the write.
        let device: String
    }

    /// A record, or what is left of one.
    struct Stored {
        var type: String
        /// Fields by their names, as JSON.
        var fields: [String: [UInt8]]
        var parent: String?
        /// When it was last changed.
        var position: Int64
        var created: Stamp
        var modified: Stamp
        var isDeleted = false

        var tag: String { String(position, radix: 36) }
    }

    struct Zone {
        /// Tells a zone from another of the same name that was there before.
        let generation: Int64
        var records: [String: Stored] = [:]
        var position: Int64
    }

    static let defaultZone = "_defaultZone"

    var zones: [String: Zone] = [defaultZone: Zone(generation: 0, position: 0)]
    /// When zones were deleted.
    var deletedZones: [String: Int64] = [:]
    var subscriptions: [MemorySubscription.Name: MemorySubscription] = [:]
}

/// A refusal, in the protocol's words.
struct MemoryFault: Error {
    let code: String
    let reason: String
    var serverRecord: [UInt8]?
    var isTokenExpired = false
    var retryAfter: Double?

    var status: Int {
        switch code {
        case "AUTHENTICATION_REQUIRED": 421
        case "NOT_FOUND", "ZONE_NOT_FOUND": 404
        case "CONFLICT": 409
        case "THROTTLED": 429
        case "TRY_AGAIN_LATER": 503
        case "INTERNAL_ERROR": 500
        case "QUOTA_EXCEEDED": 413
        case "ACCESS_DENIED": 403
        default: 400
        }
    }

    func write(_ json: inout JSONText) {
        json.member("serverErrorCode", code)
        json.member("reason", reason)
        if isTokenExpired {
            json.key("changeTokenExpired")
            json.bool(true)
        }
        if let retryAfter {
            json.key("retryAfter")
            json.double(retryAfter)
        }
        if let serverRecord {
            json.key("serverRecord")
            json.raw(serverRecord)
        }
    }
}
