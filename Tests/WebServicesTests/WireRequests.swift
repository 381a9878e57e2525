/// One operation of `records/modify` as JSON.
///
/// - Parameters:
///   - fields: the whole object; nil leaves the key out.
///   - more: further members of the record, such as `"parent":null`.
func operation(
    _ kind: String, _ name: String?, type: String? = "Cup", fields: String? = nil,
    tag: String? = nil, more: String? = nil, beside: String? = nil
) -> String {
    var members: [String] = []
    if let name { members.append("\"recordName\":\(quoted(name))") }
    if let type { members.append("\"recordType\":\(quoted(type))") }
    if let tag { members.append("\"recordChangeTag\":\(quoted(tag))") }
    if let fields { members.append("\"fields\":\(fields)") }
    if let more { members.append(more) }
    return "{\"operationType\":\"\(kind)\",\"record\":{\(members.joined(separator: ","))}"
        + (beside.map { ",\($0)" } ?? "") + "}"
}

extension WireClient {
    /// Sends operations to `records/modify`.
    ///
    /// - Parameter zone: nil for the default zone.
    func modify(
        _ operations: [String], zone: String? = "Shelf", atomic: Bool? = nil,
        in database: String = "private", more: String? = nil
    ) throws -> Answer {
        var members = ["\"operations\":[\(operations.joined(separator: ","))]"]
        if let zone { members.append("\"zoneID\":{\"zoneName\":\(quoted(zone))}") }
        if let atomic { members.append("\"atomic\":\(atomic)") }
        if let more { members.append(more) }
        return try send("\(database)/records/modify", "{\(members.joined(separator: ","))}")
    }

    /// Saves one record by `forceReplace` and hands back its item.
    @discardableResult
    func save(
        _ name: String, _ fields: String = "{}", type: String = "Cup", zone: String? = "Shelf",
        in database: String = "private", more: String? = nil
    ) throws -> AnswerPart {
        try modify(
            [operation("forceReplace", name, type: type, fields: fields, more: more)], zone: zone,
            in: database
        ).json["records"][0]
    }

    @discardableResult
    func delete(
        _ name: String, zone: String? = "Shelf", in database: String = "private"
    ) throws -> AnswerPart {
        try modify([operation("forceDelete", name, type: nil)], zone: zone, in: database)
            .json["records"][0]
    }

    /// Sends record names to `records/lookup`.
    func lookup(
        _ names: [String], zone: String? = "Shelf", in database: String = "private",
        more: String? = nil
    ) throws -> Answer {
        let items = names.map { "{\"recordName\":\(quoted($0))}" }.joined(separator: ",")
        var members = ["\"records\":[\(items)]"]
        if let zone { members.append("\"zoneID\":{\"zoneName\":\(quoted(zone))}") }
        if let more { members.append(more) }
        return try send("\(database)/records/lookup", "{\(members.joined(separator: ","))}")
    }

    /// Looks up one record.
    func record(
        _ name: String, zone: String? = "Shelf", in database: String = "private"
    ) throws -> AnswerPart {
        try lookup([name], zone: zone, in: database).json["records"][0]
    }

    /// Makes zones.
    @discardableResult
    func make(_ zones: String...) throws -> Answer { try zoneOperations("create", zones) }

    /// Deletes zones.
    @discardableResult
    func remove(_ zones: String...) throws -> Answer { try zoneOperations("delete", zones) }

    private func zoneOperations(_ kind: String, _ zones: [String]) throws -> Answer {
        let operations = zones.map {
            "{\"operationType\":\"\(kind)\",\"zone\":{\"zoneID\":{\"zoneName\":\(quoted($0))}}}"
        }
        return try send(
            "private/zones/modify", "{\"operations\":[\(operations.joined(separator: ","))]}")
    }

    /// Asks `changes/zone` for a page of one zone.
    ///
    /// - Parameter more: further members of the zone's entry, such as `"reverse":true`.
    /// - Returns: the zone's item.
    func changes(
        _ zone: String = "Shelf", after token: String? = nil, limit: Int? = nil,
        more: String? = nil
    ) throws -> AnswerPart {
        var members = ["\"zoneID\":{\"zoneName\":\(quoted(zone))}"]
        if let token { members.append("\"syncToken\":\(quoted(token))") }
        if let limit { members.append("\"resultsLimit\":\(limit)") }
        if let more { members.append(more) }
        return try send(
            "private/changes/zone", "{\"zones\":[{\(members.joined(separator: ","))}]}"
        ).json["zones"][0]
    }

    /// Asks `changes/database` for a page.
    func databaseChanges(after token: String? = nil, limit: Int? = nil) throws -> Answer {
        var members: [String] = []
        if let token { members.append("\"syncToken\":\(quoted(token))") }
        if let limit { members.append("\"resultsLimit\":\(limit)") }
        return try send("private/changes/database", "{\(members.joined(separator: ","))}")
    }
}
