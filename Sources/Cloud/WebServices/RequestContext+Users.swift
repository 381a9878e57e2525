import CloudDatabase
import CloudModel

// The server keeps records of users, but stores know of a user only once somebody names them.
extension RequestContext {
    /// Whether some of those names may be those of records of users, so that it must be looked who they are.
    func mayName(users names: some Collection<String>, in zone: ZoneID) -> Bool {
        zone.name.isDefault && zone.owner == nil
            && names.contains { $0.utf8.first == UInt8(ascii: "_") }
    }

    /// The users whose records those names are for: in a private database nobody but the caller.
    func users(
        named names: some Collection<String>, in zone: ZoneID
    ) throws -> Set<UserRecordName> {
        guard mayName(users: names, in: zone) else { return [] }
        let named = Set(names.lazy.filter { $0.utf8.first == UInt8(ascii: "_") })
            .compactMap { UserRecordName($0) }
        guard !named.isEmpty else { return [] }
        switch address.database {
        case .public: return try authenticator.identities(among: named, in: address.container)
        case .private: return Set(named.filter { $0 == caller.userRecordName })
        case .shared, nil: return []
        }
    }

    /// Makes sure that the records of the named users exist.
    ///
    /// - Returns: what comes first when some must be made; nil where they exist.
    func makeUserRecords(
        named names: some Collection<String>, in zone: ZoneID
    ) throws -> NextStep? {
        let users = try users(named: names, in: zone)
        guard !users.isEmpty else { return nil }
        let make = MakeUserRecords(users, in: try database())
        guard !make.users.isEmpty, try read(make.isDue) else { return nil }
        guard executor.mayWaitForCommits else { return .again(on: .commits) }
        try make.run()
        return .again(on: .short)
    }
}
