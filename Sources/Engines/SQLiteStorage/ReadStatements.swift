import SQLite

/// The statements of readers, each prepared when a connection first needs it.
final class ReadStatements: LazyStatements {
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

    lazy var ownerByName = connection.statement(Self.owner)
    private static let found =
        "FROM zones found JOIN zones ON zones.id = found.id WHERE found.owner = ?1"
    private static let isWhole = NameCopies.ofZone("zones")
    lazy var zoneByNumber = connection.statement(
        "\(Self.zone), \(Self.isWhole) FROM zones WHERE zones.id = ?1")
    lazy var zoneByName = connection.statement(
        """
        \(Self.zone), zones.owner = ?1 AND zones.name = ?2
        \(Self.found) AND found.name = ?2 AND found.deleted_at IS NULL
        """)
    lazy var zoneByNames = connection.statement(Self.zoneByNames)
    lazy var livingZones = connection.statement(
        """
        \(Self.zone), zones.owner = ?1 AND \(Self.isWhole)
        \(Self.found) AND found.deleted_at IS NULL ORDER BY found.name
        """)
    lazy var changedZones = connection.statement(
        """
        \(Self.zone), zones.owner = ?1 AND \(Self.isWhole)
        \(Self.found) AND found.changed > ?2 ORDER BY found.changed LIMIT ?3
        """)
    lazy var storedZones = connection.statement(
        "\(Self.zone), zones.owner = ?1 AND \(Self.isWhole) \(Self.found) LIMIT ?2")
    lazy var linksOfSource = connection.statement(
        """
        SELECT target_zone, target_name, kind FROM links
        WHERE source = ?1 AND kind BETWEEN ?2 AND ?3
        """)
    private static let sourceRows = """
        SELECT links.kind, links.source, heads.zone, heads.name
        FROM links JOIN heads ON heads.id = links.source
            JOIN zones ON zones.id = heads.zone AND zones.deleted_at IS NULL
        WHERE links.target_zone = ?1 AND links.target_name = ?2
        """
    lazy var sources = connection.statement(
        "\(Self.sourceRows) AND links.kind BETWEEN ?3 AND ?6 AND links.source > ?4 LIMIT ?5")
    lazy var sourcesInOrder = connection.statement(
        "\(Self.sourceRows) AND links.kind = ?3 AND links.source > ?4 ORDER BY links.source LIMIT ?5"
    )
    lazy var schemaHistory = connection.statement(Self.history)
    lazy var assignedRoles = connection.statement(
        "SELECT role FROM assigned_roles WHERE user_record_name = ?1")
    lazy var recordCount = connection.statement(
        "SELECT sum(record_count) FROM zones WHERE owner = ?1 AND deleted_at IS NULL")
    lazy var clientToken = connection.statement(
        """
        SELECT data FROM client_tokens
        WHERE zone = ?1 AND user_record_name = ?2 AND device = ?3
        """)
}
