/// Plain values as a client sends them.
extension PlainValue {
    /// The tag of the type; nil for an empty list of an unknown kind.
    var tag: String {
        switch self {
        case .string: "STRING"
        case .int: "INT64"
        case .double: "DOUBLE"
        case .time: "TIMESTAMP"
        case .bytes: "BYTES"
        case .location: "LOCATION"
        case .reference: "REFERENCE"
        case .list(let members): (members.first?.tag ?? "UNKNOWN") + "_LIST"
        case .encrypted(let value): value.tag
        }
    }

    var json: String {
        switch self {
        case .string(let text), .bytes(let text): quoted(text)
        case .int(let number), .time(let number): "\(number)"
        case .double(let number): "\(number)"
        case .location(let latitude, let longitude):
            "{\"latitude\":\(latitude),\"longitude\":\(longitude)}"
        case .reference(let name, let zone):
            "{\"recordName\":\(quoted(name))"
                + (zone.map { ",\"zoneID\":{\"zoneName\":\(quoted($0))}" } ?? "") + "}"
        case .list(let members): "[\(members.map(\.json).joined(separator: ","))]"
        case .encrypted(let value): value.json
        }
    }

    /// The value with its type, as a field or a filter's `fieldValue`.
    ///
    /// - Parameter type: of an empty list, whose members do not tell.
    func field(_ type: String? = nil) -> String {
        let flag = if case .encrypted = self { ",\"isEncrypted\":true" } else { "" }
        return "{\"value\":\(json),\"type\":\"\(type ?? tag)\"\(flag)}"
    }
}

extension PlainFilter {
    func json(type: String? = nil) -> String {
        var members = [
            "\"comparator\":\"\(comparator)\"", "\"fieldName\":\(quoted(field))",
            "\"fieldValue\":\(value.field(type))",
        ]
        if let distance { members.append("\"distance\":\(distance)") }
        return "{\(members.joined(separator: ","))}"
    }
}

extension PlainSort {
    var json: String {
        var members = ["\"fieldName\":\(quoted(field))"]
        if !ascending { members.append("\"ascending\":false") }
        if let from {
            let location = PlainValue.location(latitude: from.latitude, longitude: from.longitude)
            members.append(
                "\"relativeLocation\":{\"value\":\(location.json),\"type\":\"LOCATION\"}")
        }
        return "{\(members.joined(separator: ","))}"
    }
}

extension WireClient {
    /// Sends filters and sorts, each as JSON, to `records/query`.
    ///
    /// - Parameters:
    ///   - zone: nil sends none.
    ///   - more: further members of the body, such as `"zoneWide":true`.
    func query(
        _ type: String = "Cup", filters: [String] = [], sorts: [String] = [],
        zone: String? = "Shelf", limit: Int? = nil, marker: String? = nil,
        in database: String = "private", more: String? = nil
    ) throws -> Answer {
        var query = ["\"recordType\":\(quoted(type))"]
        if !filters.isEmpty { query.append("\"filterBy\":[\(filters.joined(separator: ","))]") }
        if !sorts.isEmpty { query.append("\"sortBy\":[\(sorts.joined(separator: ","))]") }
        var members = ["\"query\":{\(query.joined(separator: ","))}"]
        if let zone { members.append("\"zoneID\":{\"zoneName\":\(quoted(zone))}") }
        if let limit { members.append("\"resultsLimit\":\(limit)") }
        if let marker { members.append("\"continuationMarker\":\(quoted(marker))") }
        if let more { members.append(more) }
        return try send("\(database)/records/query", "{\(members.joined(separator: ","))}")
    }

    /// The names that a query answers with, page by page.
    func names(
        _ type: String = "Cup", filters: [String] = [], sorts: [String] = [],
        zone: String? = "Shelf", limit: Int? = nil, in database: String = "private",
        more: String? = nil
    ) throws -> [String] {
        var names: [String] = []
        var marker: String?
        repeat {
            let answer = try query(
                type, filters: filters, sorts: sorts, zone: zone, limit: limit, marker: marker,
                in: database, more: more)
            guard answer.status == 200 else {
                throw WireFailure("\(answer.status) \(answer.text)")
            }
            if let limit, answer.records.count > limit {
                throw WireFailure("\(answer.records.count) records where \(limit) were asked for")
            }
            names += answer.records.map { $0.name ?? "" }
            marker = answer["continuationMarker"].string
        } while marker != nil
        return names
    }
}
