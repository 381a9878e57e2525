import Seeding

extension SharingRun {
    /// What the container's schema needs, for queries by parent too.
    package static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            "___parent" REFERENCE QUERYABLE,
            v STRING QUERYABLE SORTABLE,
            w STRING QUERYABLE SORTABLE,
            GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
        );
        """

    /// What a query asks for, for the model and for the wire.
    private struct Query {
        var type = "Note"
        var filter: String?
        var sort: String?
        var matches: (String, SeenRecord) -> Bool = { _, _ in true }
    }

    /// Somebody queries a zone that they may see or not, by what others have written too.
    func query() throws {
        let user = random.one(of: users)
        let ownedZones = model.zones.keys.filter { people[$0.owner].recordName != nil }.sorted()
        let visible = ownedZones.filter { $0.owner != user && self.visible(user, $0) != nil }
        let ownedZone = random.happens(75) ? random.any(of: visible) : random.one(of: ownedZones)
        guard let ownedZone else { return }
        let query = makeQuery(ownedZone, user)
        let database = ownedZone.owner == user ? "private" : "shared"
        var found: [String: SeenRecord] = [:]
        var marker: String?
        repeat {
            let answer = try send(
                user, "\(database)/records/query", body(of: query, ownedZone, user, after: marker))
            let isSeen =
                ownedZone.owner == user && model.zones[ownedZone] != nil
                || self.visible(user, ownedZone) != nil
            guard isSeen else {
                note("query in a zone unseen")
                return try expect(answer, 404, "ZONE_NOT_FOUND")
            }
            guard answer.status == 200 else { throw SharingFailure("query: \(answer.text)") }
            for item in answer["records"].elements {
                let name = item["recordName"].string ?? ""
                guard found.updateValue(item.record, forKey: name) == nil else {
                    throw SharingFailure("a query finds \(name) twice")
                }
            }
            marker = answer["continuationMarker"].string
        } while marker != nil
        let expected = SharingViews(people: people).zone(ownedZone, for: user, of: model)
            .filter { $0.value.type == query.type && query.matches($0.key, $0.value) }
        guard found == expected else {
            throw SharingFailure(
                "user \(user) queries \(ownedZone) for \(query.filter ?? query.type) and finds "
                    + "\(found.keys.sorted()), not \(expected.keys.sorted())")
        }
        note("query \(found.isEmpty ? "finds nothing" : "finds")")
    }

    private func makeQuery(_ ownedZone: OwnedZone, _ user: Int) -> Query {
        var query = Query()
        if random.happens(40) { query.sort = random.one(of: ["v", "w", "recordName"]) }
        let records = (model.zones[ownedZone]?.records ?? [:]).sorted { $0.key < $1.key }
        switch random.below(6) {
        case 0: query.type = ModelledSharing.shareType
        case 1, 2:
            let field = random.one(of: ["v", "w"])
            let values = records.compactMap { $0.value.fields[field] }
            guard let value = random.any(of: values) else { break }
            query.filter = filter(field, "EQUALS", value)
            query.matches = { $1.fields[field] == value }
        case 3:
            guard let parent = random.any(of: records.compactMap { $0.value.parent }) else { break }
            query.filter = filter("parent", "EQUALS", reference(parent))
            query.matches = { $1.parent == parent }
        case 4:
            let names = Set((0..<4).map { _ in random.one(of: pool(ownedZone)) })
            let list = names.sorted().map(reference).joined(separator: ",")
            query.filter = filter("recordName", "IN", "[\(list)]")
            query.matches = { name, _ in names.contains(name) }
        default: break
        }
        if query.type == ModelledSharing.shareType { query.sort = nil }
        return query
    }

    private func filter(_ field: String, _ comparator: String, _ value: String) -> String {
        let type = comparator == "IN" ? ",\"type\":\"REFERENCE_LIST\"" : ""
        return "{\"fieldName\":\"\(field)\",\"comparator\":\"\(comparator)\","
            + "\"fieldValue\":{\"value\":\(value)\(type)}}"
    }

    private func reference(_ name: String) -> String {
        "{\"recordName\":\"\(name)\",\"action\":\"NONE\"}"
    }

    private func body(
        of query: Query, _ ownedZone: OwnedZone, _ user: Int, after marker: String?
    ) -> String {
        var members = ["\"recordType\":\"\(query.type)\""]
        if let filter = query.filter { members.append("\"filterBy\":[\(filter)]") }
        if let sort = query.sort {
            members.append("\"sortBy\":[{\"fieldName\":\"\(sort)\",\"ascending\":true}]")
        }
        let after = marker.map { ",\"continuationMarker\":\"\($0)\"" } ?? ""
        return
            "{\"zoneID\":\(zoneID(ownedZone, for: user)),\"query\":{\(members.joined(separator: ","))},"
            + "\"resultsLimit\":\(random.one(of: [1, 3, 200]))\(after)}"
    }
}
