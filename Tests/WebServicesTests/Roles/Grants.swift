import CloudDatabase
import CloudModel
import Storage

extension WireServer {
    /// Gives record types exactly these grants, and makes the types and roles that are not there.
    ///
    /// - Parameter grants: `READ`, `CREATE` and `WRITE` by role by type.
    func grant(
        _ grants: [String: [String: Permissions]],
        _ environment: CloudModel.Environment = .development
    ) throws {
        try store(Self.tea, environment).writeAndWait { transaction in
            var schema = try transaction.schema
            for (name, granted) in grants {
                guard let type = RecordTypeName(name) else { throw WireFailure("no type \(name)") }
                var changed = schema.types[type] ?? Schema.RecordType()
                changed.grants = [:]
                for (name, permissions) in granted {
                    guard let role = RoleName(name) else { throw WireFailure("no role \(name)") }
                    changed.grants[role] = permissions
                    guard !role.isBuiltIn, schema.roles[role] == nil else { continue }
                    schema.roles[role] = 0
                }
                schema.types[type] = changed
            }
            try transaction.replaceSchema(by: schema, who: "a test", difference: [])
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
