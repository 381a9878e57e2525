import CloudModel
import JSON
import RecordDecoding

/// How faults look on the wire (web-services.md §6), around the members that every fault has.
enum FaultResponse {
    /// The body of an answer that is an error as a whole.
    static func body(_ fault: Fault, requestID: String) -> [UInt8] {
        var writer = JSONWriter(reserving: 200)
        writer.raw("{\"uuid\":")
        writer.string(requestID)
        fault.appendMembers(to: &writer)
        writer.raw("}")
        return writer.bytes
    }

    /// An item error of a record.
    static func append(record name: String, _ fault: Fault, to writer: inout JSONWriter) {
        fault.append(record: name, to: &writer)
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
        fault.appendMembers(to: &writer)
        writer.raw("}")
    }

    /// An item error of a subscription; nil for one that came without an ID.
    static func append(
        subscription id: String?, _ fault: Fault, to writer: inout JSONWriter
    ) {
        var members = JSONWriter(reserving: 200)
        fault.appendMembers(to: &members)
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
}
