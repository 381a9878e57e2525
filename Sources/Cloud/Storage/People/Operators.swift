import CloudModel

/// An account that may act on the server's data as an operator.
package struct OperatorRecord: Sendable, Equatable {
    package let account: AccountID
    package let rights: OperatorRights
    package let madeAt: Milliseconds

    package init(account: AccountID, rights: OperatorRights, madeAt: Milliseconds) {
        self.account = account
        self.rights = rights
        self.madeAt = madeAt
    }
}

/// Somebody who is to become an operator once they have made an account with an address.
package struct OperatorInvitation: Sendable {
    package let address: Address
    package let rights: OperatorRights
    package let expiresAt: Milliseconds

    package init(address: Address, rights: OperatorRights, expiresAt: Milliseconds) {
        self.address = address
        self.rights = rights
        self.expiresAt = expiresAt
    }
}

/// What lets a script act as an operator.
package struct OperatorTokenRecord: Sendable, Equatable {
    /// SHA-256 of the token.
    package let hash: [UInt8]
    /// Unique over the server.
    package let name: String
    package let rights: OperatorRights
    package let madeAt: Milliseconds
    package let expiresAt: Milliseconds
    /// When it last let a script in, to the minute or so; nil for never.
    package let usedAt: Milliseconds?

    package init(
        hash: [UInt8], name: String, rights: OperatorRights, madeAt: Milliseconds,
        expiresAt: Milliseconds, usedAt: Milliseconds? = nil
    ) {
        self.hash = hash
        self.name = name
        self.rights = rights
        self.madeAt = madeAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
    }
}

/// How an operator came in.
package enum OperatorKind: String, Sendable, CaseIterable {
    case commandLine = "command line"
    case account
    case token
}

/// That an operator looked at what a person keeps for themselves.
package struct OperatorLook: Sendable, Equatable {
    package let account: AccountID
    package let time: Milliseconds
    package let kind: OperatorKind
    /// `AdministrativeAction.name`.
    package let action: String
    /// Nil where it was all that is kept of them.
    package let container: ContainerID?

    package init(
        account: AccountID, time: Milliseconds, by kind: OperatorKind, action: String,
        container: ContainerID?
    ) {
        self.account = account
        self.time = time
        self.kind = kind
        self.action = action
        self.container = container
    }
}

/// Who acts on the server as an operator, and what they looked at.
package protocol OperatorCatalog: Sendable {
    /// Makes an account an operator, or gives one other rights, which ends its sessions as an operator.
    ///
    /// - Parameter rights: nil for an operator no more.
    /// - Throws: `accountUnknown`, `containerUnknown`; `operatorUnknown` for who is none and shall be none.
    func set(_ rights: OperatorRights?, of account: AccountID, now: Milliseconds) throws
    /// The operators, in the order of their accounts' IDs; searched by these.
    ///
    /// - Throws: `UnusableCursor`.
    func operators(_ request: ListRequest) throws -> ListPage<OperatorRecord>

    /// Notes who is to become an operator with an account, in place of an earlier note for the address.
    ///
    /// - Throws: `containerUnknown`.
    func add(_ invitation: OperatorInvitation, now: Milliseconds) throws

    /// Adds a token, and drops those that have expired by `now`.
    ///
    /// - Throws: `containerUnknown`, `nameTaken`.
    func add(_ token: OperatorTokenRecord, now: Milliseconds) throws
    func operatorToken(hash: [UInt8]) throws -> OperatorTokenRecord?
    /// The tokens, in the order of their names; searched by these.
    ///
    /// - Throws: `UnusableCursor`.
    func operatorTokens(_ request: ListRequest) throws -> ListPage<OperatorTokenRecord>

    /// Keeps the digest of a secret by which the first operator may make themselves (`AccountEntrance`).
    ///
    /// - Returns: false, with nothing kept, where there is an operator, and where one was kept before.
    func offerFirstOperator(hash: [UInt8], until end: Milliseconds) throws -> Bool

    /// - Throws: `accountUnknown`.
    func note(_ look: OperatorLook) throws
    /// What operators looked at of an account, the latest first.
    func looks(at account: AccountID, limit: Int) throws -> [OperatorLook]
}

extension OperatorCatalog {
    package func operatorRecord(of account: AccountID) throws -> OperatorRecord? {
        try operators(ListRequest(limit: 1, prefix: account.text)).items
            .first { $0.account == account }
    }
}
