import Testing

/// A zone of somebody else's as one participant has it, with a copy that follows its feed.
struct SharedZone {
    let client: WireClient
    let owner: String
    var zone = "Shelf"
    /// The records of the copy as they came, by name.
    private(set) var records: [String: AnswerPart] = [:]
    /// Every name that a deletion has named.
    private(set) var deletions: [String] = []
    private(set) var token: String?
    /// How often the token was refused as expired.
    private(set) var restarts = 0

    init(_ client: WireClient, of owner: WireClient, zone: String = "Shelf") {
        self.client = client
        self.owner = owner.name
        self.zone = zone
    }

    var id: String {
        "\"zoneID\":{\"zoneName\":\(quoted(zone)),\"ownerRecordName\":\(quoted(owner))}"
    }

    /// The names in the copy but for share records, in order.
    var names: [String] {
        records.values.filter { $0["recordType"].string != "cloudkit.share" }
            .compactMap(\.name).sorted()
    }

    func page(after token: String? = nil, limit: Int? = nil, more: String = "") throws -> AnswerPart
    {
        var members = [id]
        if let token { members.append("\"syncToken\":\(quoted(token))") }
        if let limit { members.append("\"resultsLimit\":\(limit)") }
        return try client.send(
            "shared/changes/zone", "{\"zones\":[{\(members.joined(separator: ","))\(more)}]}"
        ).json["zones"][0]
    }

    /// Takes one page into the copy.
    ///
    /// - Returns: whether there is more.
    @discardableResult
    mutating func advance(limit: Int? = nil) throws -> Bool {
        let page = try page(after: token, limit: limit)
        if let code = page.code {
            if code == "ZONE_NOT_FOUND" {
                records = [:]
                token = nil
                return false
            }
            try #require(page["changeTokenExpired"].bool == true, "\(page.raw)")
            records = [:]
            token = nil
            restarts += 1
            return true
        }
        for record in page["records"].elements {
            let name = record.name ?? ""
            if record["deleted"].bool == true {
                records[name] = nil
                deletions.append(name)
            } else {
                records[name] = record
            }
        }
        token = page["syncToken"].string
        return page["moreComing"].bool == true
    }

    /// Takes all pages there are.
    ///
    /// - Throws: when there is no end of them for a minute, which means that the work on a tree stands still.
    mutating func catchUp(limit: Int? = nil) throws {
        try client.server.until { try !advance(limit: limit) }
    }

    func lookup(_ names: String...) throws -> [AnswerPart] {
        try client.lookup(names, zone: nil, in: "shared", more: id).records
    }

    func modify(_ operations: [String], atomic: Bool? = nil) throws -> Answer {
        try client.modify(operations, zone: nil, atomic: atomic, in: "shared", more: id)
    }

    /// Saves one record by `forceUpdate` below a parent.
    @discardableResult
    func save(
        _ name: String, below parent: String?, kind: String = "forceUpdate",
        fields: String = "{}", tag: String? = nil
    ) throws -> AnswerPart {
        try modify([
            operation(
                kind, name, type: "Note", fields: fields, tag: tag, more: parent.map(below))
        ]).records[0]
    }
}

/// The member that puts a record below another one.
func below(_ parent: String) -> String { "\"parent\":{\"recordName\":\(quoted(parent))}" }

extension WireClient {
    /// Saves records of a type, each below the one that it names.
    func put(_ records: (name: String, parent: String?)..., zone: String = "Shelf") throws {
        let answer = try modify(
            records.map {
                operation(
                    "forceUpdate", $0.name, type: "Note", fields: "{}",
                    more: $0.parent.map(below) ?? "\"parent\":null")
            }, zone: zone)
        for record in answer.records { try #require(record.code == nil, "\(record.raw)") }
    }

    /// Shares a stored record by a link that anybody may write through.
    ///
    /// - Returns: the short identifier.
    @discardableResult
    func share(
        _ root: String, zone: String = "Shelf", permission: String = "READ_WRITE"
    ) throws -> String {
        let tag = try record(root, zone: zone).tag
        let answer = try modify(
            [
                shareOperation(
                    "create", "share-\(root)", root: root, rootTag: tag,
                    publicPermission: permission)
            ], zone: zone)
        try #require(answer.records[0].code == nil, "\(answer.text)")
        return answer.records[0].shortGUID
    }

    /// Joins a share by its link.
    func join(_ shortGUID: String) throws {
        let answer = try accept(shortGUID)
        try #require(answer.status == 200, "\(answer.text)")
    }

    /// The shared database's feed after a token.
    func sharedChanges(after token: String? = nil) throws -> Answer {
        try send(
            "shared/changes/database", token.map { "{\"syncToken\":\(quoted($0))}" } ?? "{}")
    }
}
