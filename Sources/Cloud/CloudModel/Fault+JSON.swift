import JSON

/// How faults look in JSON (web-services.md §6): the one place where they become it.
extension Fault {
    /// Appends an item error of a record.
    package func append(record name: String, to writer: inout JSONWriter) {
        writer.raw("{\"recordName\":")
        writer.string(name)
        appendMembers(to: &writer)
        if let serverRecord {
            writer.raw(",\"serverRecord\":")
            writer.raw(serverRecord)
        }
        writer.raw("}")
    }

    /// Appends the members that tell of the fault, each after a comma.
    package func appendMembers(to writer: inout JSONWriter) {
        writer.member("reason", reason)
        writer.raw(",\"serverErrorCode\":\"")
        writer.bytes.append(contentsOf: code.rawValue.utf8)
        writer.raw("\"")
        if let detail {
            writer.raw(",\"detail\":\"")
            writer.bytes.append(contentsOf: detail.rawValue.utf8)
            writer.raw("\"")
        }
        if let retryAfterSeconds {
            writer.member("retryAfter", retryAfterSeconds)
        }
        if let redirectURL {
            writer.member("redirectURL", redirectURL)
        }
        if isChangeTokenExpired { writer.raw(",\"changeTokenExpired\":true") }
    }
}
