import SQLite

/// The statements of readers, each prepared when a connection first needs it.
struct ReadStatements {
    let ownerByName: Statement
    let zoneByNumber: Statement
    let zoneByName: Statement
    let zoneByNames: Statement
    let livingZones: Statement
    let changedZones: Statement
    let keptZones: Statement
    let linksOfSource: Statement
    let sources: Statement
    let sourcesInOrder: Statement
    let schemaHistory: Statement
    let assignedRoles: Statement
    let recordCount: Statement
    let clientToken: Statement

    private static let history = """
        SELECT number, made_at, made_by, difference FROM schema_changes
        ORDER BY number DESC LIMIT ?1
        """

    // An index leads to a number. The row of that number must be the one asked for: a bit that flips
    // in the index leads to another.
    private static let owner = """
        SELECT owners.id, owners.used_bytes, owners.whole_after, owners.record_name = ?1
        FROM owners found JOIN owners ON owners.id = found.id WHERE found.record_name = ?1
        """
    private static let zone = """
        SELECT zones.id, zones.owner, zones.created, zones.changed, zones.whole_after,
            zones.deleted_at IS NOT NULL, zones.name
        """
    private static let zoneByNames = """
        \(zone), zones.owner = owners.id AND zones.name = ?2 AND owners.record_name = ?1
        FROM owners named JOIN zones found ON found.owner = named.id
            JOIN owners ON owners.id = named.id JOIN zones ON zones.id = found.id
        WHERE named.record_name = ?1 AND found.name = ?2 AND found.deleted_at IS NULL
        """

    init(_ connection: Connection) {
        ownerByName = connection.statement(Self.owner)
        let zone = Self.zone
        let found = "FROM zones found JOIN zones ON zones.id = found.id WHERE found.owner = ?1"
        let isWhole = NameCopies.ofZone("zones")
        zoneByNumber = connection.statement("\(zone), \(isWhole) FROM zones WHERE zones.id = ?1")
        zoneByName = connection.statement(
            """
            \(zone), zones.owner = ?1 AND zones.name = ?2
            \(found) AND found.name = ?2 AND found.deleted_at IS NULL
            """)
        zoneByNames = connection.statement(Self.zoneByNames)
        livingZones = connection.statement(
            """
            \(zone), zones.owner = ?1 AND \(isWhole)
            \(found) AND found.deleted_at IS NULL ORDER BY found.name
            """)
        changedZones = connection.statement(
            """
            \(zone), zones.owner = ?1 AND \(isWhole)
            \(found) AND found.changed > ?2 ORDER BY found.changed LIMIT ?3
            """)
        keptZones = connection.statement(
            "\(zone), zones.owner = ?1 AND \(isWhole) \(found) LIMIT ?2")
        linksOfSource = connection.statement(
            """
            SELECT target_zone, target_name, kind FROM links
            WHERE source = ?1 AND kind BETWEEN ?2 AND ?3
            """)
        let sources = """
            SELECT links.kind, links.source, heads.zone, heads.name
            FROM links JOIN heads ON heads.id = links.source
                JOIN zones ON zones.id = heads.zone AND zones.deleted_at IS NULL
            WHERE links.target_zone = ?1 AND links.target_name = ?2
            """
        self.sources = connection.statement(
            "\(sources) AND links.kind BETWEEN ?3 AND ?6 AND links.source > ?4 LIMIT ?5")
        sourcesInOrder = connection.statement(
            "\(sources) AND links.kind = ?3 AND links.source > ?4 ORDER BY links.source LIMIT ?5")
        schemaHistory = connection.statement(Self.history)
        assignedRoles = connection.statement(
            "SELECT role FROM assigned_roles WHERE user_record_name = ?1")
        recordCount = connection.statement(
            "SELECT sum(record_count) FROM zones WHERE owner = ?1 AND deleted_at IS NULL")
        clientToken = connection.statement(
            """
            SELECT data FROM client_tokens
            WHERE zone = ?1 AND user_record_name = ?2 AND device = ?3
            """)
    }
}
