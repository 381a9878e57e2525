import CloudDatabase
import CloudModel
import Storage

/// Lists the shares of a user, their own and those that they have joined, with who takes part.
///
/// One-time links are shown only to who may change things: a link lets somebody in. Their addresses begin with a
/// slash. Refusals: `RecordsRefusal`; as `OperatedDatabase.opened`.
package struct ListUserShares: OperatedReading {
    package let target: OperatedDatabase

    package init(of email: String, in target: NamedEnvironment) {
        self.target = OperatedDatabase(target, .private, of: email)
    }

    package var name: String { "share list" }

    /// - Returns: JSON objects with `databaseScope`, `zoneID`, `rootRecordName` and `share`.
    package func run(in data: any ServerData, by actor: Operator) throws -> [[UInt8]] {
        let opened = try target.opened(in: data, linksShares: !actor.rights.isReadOnly)
        guard let user = opened.database.caller.userRecordName else { return [] }
        return try RecordsRefusal.of { try BrowseShares(of: user, in: opened.database).run() }
    }
}

/// Joins a share on behalf of a user, by its link and by the rules that hold for them.
///
/// Refusals: `RecordsRefusal` for a link that leads nowhere or that they may not follow; as `OperatedDatabase.opened`.
package struct AcceptUserShare: OperatedAction {
    package let target: OperatedDatabase
    private let link: String

    /// - Parameter link: the address, or its last part.
    package init(_ link: String, for email: String, in target: NamedEnvironment) {
        self.target = OperatedDatabase(target, .public, of: email)
        self.link = link
    }

    package var name: String { "share accept" }

    package func run(in data: any ServerData, by actor: Operator) throws {
        let opened = try target.opened(in: data, saves: true, linksShares: true)
        guard let container = opened.database.container else { return }
        let guid = link.split(separator: "/").last.map(String.init) ?? ""
        try RecordsRefusal.of {
            let invitations = try ShareInvitations(
                [ShareInvitations.Link(value: guid, text: Array("{}".utf8), root: nil)],
                in: opened.database,
                at: ShareInvitations.ContainerDetails(container: container, fallbackURL: nil))
            let pending = Pending<Void>()
            try invitations.accept { pending.end($0) }
            try pending.wait()
        }
    }
}
