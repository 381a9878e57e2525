import CloudModel
import Cryptography
import JSON
import RecordDecoding

// Keys that several endpoints share (web-services.md §3).
extension RequestObject {
    /// How long an answer without news may wait for some, in seconds (rulings.md 51); nil for no wait.
    ///
    /// - Throws: BAD_REQUEST for less than 1 and for more than `ServiceLimits.feedWaitSecondsMax`.
    func waitSeconds(_ limits: ServiceLimits) throws(Fault) -> Int? {
        guard let given = try integer("waitSeconds") else { return nil }
        guard given >= 1, given <= Int64(limits.feedWaitSecondsMax) else {
            throw .badRequest(
                "waitSeconds: \(given) given; expected 1 to \(limits.feedWaitSecondsMax) "
                    + "(limits.feedWaitSecondsMax)")
        }
        return Int(given)
    }

    /// The array of the items that the request asks for; the request must have it.
    ///
    /// - Throws: BAD_REQUEST also for more than `ServiceLimits.operationsPerRequestMax` elements.
    func items(_ key: StaticString, _ limits: ServiceLimits) throws(Fault) -> JSONElements {
        try countedItems(key, limits).elements
    }

    /// The same with their count, for endpoints that leave many to a worker (`RequestContext.holdsUp`).
    func countedItems(
        _ key: StaticString, _ limits: ServiceLimits
    ) throws(Fault) -> (elements: JSONElements, count: Int) {
        let (elements, count) = try counted(key)
        guard count <= limits.operationsPerRequestMax else {
            throw .limitExceeded(
                "\(key): \(count) given; the limit is \(limits.operationsPerRequestMax) "
                    + "(limits.operationsPerRequestMax)")
        }
        return (elements, count)
    }

    /// The array of the assets that the request asks about; the request must have it.
    ///
    /// - Throws: BAD_REQUEST also for more than `ServiceLimits.assetTokensPerRequestMax` elements.
    func assetItems(
        _ key: StaticString, _ limits: ServiceLimits
    ) throws(Fault) -> (elements: JSONElements, count: Int) {
        let (elements, count) = try counted(key)
        let most = limits.assetTokensPerRequestMax
        guard count <= most else {
            throw .badRequest(
                "\(key): \(count) given; the limit is \(most)")
        }
        return (elements, count)
    }

    private func counted(
        _ key: StaticString
    ) throws(Fault) -> (elements: JSONElements, count: Int) {
        guard let elements = try array(key), let count = self[key]?.count else {
            throw RequestObject.missing(key)
        }
        return (elements, count)
    }

    /// `clientChangeTokenData`, decoded: data that a device stores for itself.
    ///
    /// - Throws: BAD_REQUEST also for more than `ServiceLimits.clientTokenBytesMax`.
    func clientToken(_ limits: ServiceLimits) throws(Fault) -> [UInt8]? {
        guard let text = try string("clientChangeTokenData") else { return nil }
        guard let data = Base64.decode(text) else {
            throw .badRequest("clientChangeTokenData: expected a string of padded base64")
        }
        guard data.count <= limits.clientTokenBytesMax else {
            throw .limitExceeded(
                "clientChangeTokenData: \(data.count) bytes given; the limit is "
                    + "\(limits.clientTokenBytesMax)")
        }
        return data
    }

    /// `resultsLimit`: a value over the limit counts as the limit, a value below 1 is refused (rulings.md
    /// 13).
    func resultsLimit(_ limits: ServiceLimits) throws(Fault) -> Int? {
        guard let wanted = try integer("resultsLimit") else { return nil }
        guard wanted > 0 else {
            throw .badRequest("resultsLimit: expected a number above 0")
        }
        return Int(min(wanted, Int64(limits.recordsPerResponseMax)))
    }
}

// The same keys as the description has them.
extension ObjectKey {
    static var waitSeconds: ObjectKey {
        .beyond(
            "waitSeconds", .integer(least: 1, most: \ServiceLimits.feedWaitSecondsMax, example: 1))
    }

    static func items(_ name: String, _ value: ValueShape) -> ObjectKey {
        .required(name, .list(value, most: \ServiceLimits.operationsPerRequestMax))
    }

    static func assetItems(_ name: String, _ value: ValueShape) -> ObjectKey {
        .required(name, .list(value, most: \ServiceLimits.assetTokensPerRequestMax))
    }

    static var clientToken: ObjectKey { .optional("clientChangeTokenData", .base64()) }

    static var resultsLimit: ObjectKey { .optional("resultsLimit", .integer(least: 1)) }
}
