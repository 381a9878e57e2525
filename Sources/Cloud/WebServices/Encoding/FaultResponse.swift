import CloudModel
import JSON

/// How faults look on the wire (web-services.md §6): the one place where they become JSON.
enum FaultResponse {
    /// The body of an answer that is an error as a whole.
    static func body(_ fault: Fault, requestID: String) -> [UInt8] {
        var writer = JSONWriter(reserving: 200)
        writer.raw("{\"uuid\":")
        writer.string(requestID)
        append(members: fault, to: &writer)
        writer.raw("}")
        return writer.bytes
    }

    /// An item error of a record.
    static func append(record name: String, _ fault: Fault, to writer: inout JSONWriter) {
        writer.raw("{\"recordName\":")
        writer.string(name)
        append(members: fault, to: &writer)
        if let record = fault.serverRecord {
            writer.raw(",\"serverRecord\":")
            writer.raw(record)
        }
        writer.raw("}")
    }

    /// An item error of a zone, with its ID as it was read from the request.
    static func append(
        zone: ZoneReader.Spelling, _ fault: Fault, to writer: inout JSONWriter
    ) {
        writer.raw("{\"zoneID\":{\"zoneName\":")
        writer.string(zone.name)
        if let owner = zone.owner {
            writer.member("ownerRecordName", owner)
        }
        writer.raw("}")
        append(members: fault, to: &writer)
        writer.raw("}")
    }

    /// An item error of a subscription; nil for one that came without an ID.
    static func append(
        subscription id: String?, _ fault: Fault, to writer: inout JSONWriter
    ) {
        var members = JSONWriter(reserving: 200)
        append(members: fault, to: &members)
        writer.raw("{")
        if let id {
            writer.raw("\"subscriptionID\":")
            writer.string(id)
            writer.raw(members.bytes)
        } else {
            writer.bytes.append(contentsOf: members.bytes.dropFirst())
        }
        writer.raw("}")
    }

    private static func append(members fault: Fault, to writer: inout JSONWriter) {
        writer.member("reason", fault.reason)
        writer.raw(",\"serverErrorCode\":\"")
        writer.bytes.append(contentsOf: fault.code.rawValue.utf8)
        writer.raw("\"")
        if let detail = fault.detail {
            writer.raw(",\"detail\":\"")
            writer.bytes.append(contentsOf: detail.rawValue.utf8)
            writer.raw("\"")
        }
        if let seconds = fault.retryAfterSeconds {
            writer.member("retryAfter", seconds)
        }
        if let url = fault.redirectURL {
            writer.member("redirectURL", url)
        }
        if fault.isChangeTokenExpired { writer.raw(",\"changeTokenExpired\":true") }
    }
}
