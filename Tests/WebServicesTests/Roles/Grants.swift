import CloudDatabase
import CloudModel
import SQLite
import Storage

extension WireServer {
    /// Gives record types exactly these grants, and makes the types and roles that are not there.
    ///
    /// - Parameter grants: `READ`, `CREATE` and `WRITE` by role by type.
    func grant(
        _ grants: [String: [String: Permissions]],
        _ environment: CloudModel.Environment = .development
    ) throws {
        _ = try store(Self.tea, environment)
        try restart(Self.tea, environment) { path in
            let connection = try Connection(path: path, mode: .readWrite)
            for (type, roles) in grants.sorted(by: { $0.key < $1.key }) {
                try connection.run("INSERT OR IGNORE INTO record_types (name) VALUES (?1)", type)
                try connection.run(
                    """
                    DELETE FROM permissions
                    WHERE record_type = (SELECT id FROM record_types WHERE name = ?1)
                    """, type)
                for (role, granted) in roles.sorted(by: { $0.key < $1.key }) {
                    if !role.hasPrefix("_") {
                        try connection.run("INSERT OR IGNORE INTO roles (name) VALUES (?1)", role)
                    }
                    try connection.run(
                        """
                        INSERT INTO permissions (record_type, role, granted)
                        SELECT id, ?2, \(granted.rawValue) FROM record_types WHERE name = ?1
                        """, type, role)
                }
            }
        }
    }

    /// Gives a user a role, or takes it from them; what is already so stays so.
    @discardableResult
    func assign(
        _ role: String, _ isGiven: Bool = true, to client: WireClient,
        _ environment: CloudModel.Environment = .development
    ) throws -> Bool {
        guard let user = UserRecordName(client.name) else { throw WireFailure("no user") }
        return try AssignRole(role, isGiven: isGiven, to: user)
            .run(in: try store(Self.tea, environment))
    }
}

extension Connection {
    fileprivate func run(_ sql: String, _ values: String...) throws {
        let statement = try prepare(sql)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
    }
}

extension WireClient {
    /// Who the caller is to the container.
    func recordName() throws -> String {
        try send("public/users/caller", nil)["userRecordName"].string ?? ""
    }

    /// Sends a request on behalf of a user: every one that goes through the copy.
    func onBehalf(of user: WireClient) -> WireClient {
        var copy = self
        copy.onBehalfOf = user.name
        return copy
    }

    /// Queries the public database for all records of a type, in the order of their names.
    func query(_ type: String, more: String? = nil) throws -> Answer {
        try send(
            "public/records/query",
            """
            {"query":{"recordType":"\(type)","sortBy":[{"fieldName":"recordName"}]}\
            \(more.map { ",\($0)" } ?? "")}
            """)
    }
}
