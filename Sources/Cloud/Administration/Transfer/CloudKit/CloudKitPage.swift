import CloudModel
import JSON

/// One page of what is read: its records, and where the next begins.
struct CloudKitPage {
    let items: [JSONValue]
    /// Where the records lie.
    let zone: String
    /// Nil when this was the last.
    let next: String?

    /// Asks for it.
    ///
    /// - Parameter marker: where it begins; empty for the first.
    /// - Throws: as `CloudKitRequests.answer`.
    init(
        _ step: CloudKitProgress.Step, after marker: String, limit: Int,
        from requests: CloudKitRequests
    ) throws {
        switch step {
        case .type(let type):
            let answer = try requests.answer(
                to: "records/query", Self.query(type, after: marker, limit: limit))
            items = Array(answer["records"]?.elements ?? answer.elements)
            zone = ZoneName.defaultZone.text
            next = answer["continuationMarker"]?.string
        case .zone(let name):
            let answer = try Self.changes(name, after: marker, limit: limit, from: requests)
            items = Array(answer["records"]?.elements ?? answer.elements)
            zone = name
            next = answer["moreComing"]?.bool == true ? answer["syncToken"]?.string : nil
        }
    }

    /// A question for all records of a type.
    static func query(_ type: String, after marker: String, limit: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"query\":{\"recordType\":")
        writer.string(type)
        writer.raw("}")
        writer.member("resultsLimit", limit)
        if !marker.isEmpty { writer.member("continuationMarker", marker) }
        writer.raw("}")
        return writer.bytes
    }

    /// What the answer says of the one zone that is asked for.
    private static func changes(
        _ zone: String, after marker: String, limit: Int, from requests: CloudKitRequests
    ) throws -> JSONValue {
        var writer = JSONWriter()
        writer.raw("{\"zones\":[{\"zoneID\":{\"zoneName\":")
        writer.string(zone)
        writer.raw("}")
        if !marker.isEmpty { writer.member("syncToken", marker) }
        writer.member("resultsLimit", limit)
        writer.raw("}]}")
        var attempt = 0
        while true {
            attempt += 1
            let answer = try requests.answer(to: "changes/zone", writer.bytes)
            guard let found = answer["zones"]?.elements.first(where: { _ in true }) else {
                throw RecordsRefusal("an answer to changes/zone without the zone")
            }
            guard found["serverErrorCode"]?.string != nil else { return found }
            let refusal = CloudKitRefusal(item: found)
            guard refusal.mayPass, attempt < CloudKitRequests.attemptsMax else { throw refusal }
            try requests.pause(after: attempt, refusal.retryAfterSeconds, because: "\(refusal)")
        }
    }
}
