import Foundation

/// Long-lived operations on a device: what they were asked, and the answers that they have got so far.
package struct StoredOperations: Sendable {
    private let store: LocalStore

    /// How long an operation whose program has ended is kept after its last answer.
    private static let keptSeconds: Int64 = 24 * 3_600

    package init(_ store: LocalStore) { self.store = store }

    /// An operation as it was begun.
    package struct Stored: Equatable, Sendable {
        package let id: String
        package let container: String
        /// Which class it is of.
        package let kind: String
        /// The database's native number.
        package let scope: Int
        /// What it was asked, as an archive.
        package let input: [UInt8]

        package init(id: String, container: String, kind: String, scope: Int, input: [UInt8]) {
            self.id = id
            self.container = container
            self.kind = kind
            self.scope = scope
            self.input = input
        }
    }

    /// Keeps an operation; one that is there already stays as it is.
    package func keep(_ operation: Stored, now: Date) throws {
        try store.run(
            "INSERT OR IGNORE INTO operation VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(operation.id), .text(operation.container), .text(operation.kind),
                .integer(Int64(operation.scope)), .bytes(operation.input),
                .integer(Int64(now.timeIntervalSince1970)),
            ])
    }

    /// The operations of a container that have not told their end yet.
    package func ids(of container: String, now: Date) throws -> [String] {
        let oldest = Int64(now.timeIntervalSince1970) - Self.keptSeconds
        let old = try store.run(
            "SELECT id FROM operation WHERE touched < ?", [.integer(oldest)])
        for case .text(let id)? in old.map(\.first) { try remove(id) }
        let rows = try store.run(
            "SELECT id FROM operation WHERE container = ? ORDER BY touched, id",
            [.text(container)])
        return rows.compactMap { if case .text(let id)? = $0.first { id } else { nil } }
    }

    /// - Returns: nil for an operation that is not kept, or no longer.
    package func operation(_ id: String) throws -> Stored? {
        let rows = try store.run(
            "SELECT container, kind, scope, input FROM operation WHERE id = ?", [.text(id)])
        guard let row = rows.first, case .text(let container) = row[0],
            case .text(let kind) = row[1], case .integer(let scope) = row[2],
            case .bytes(let input) = row[3]
        else { return nil }
        return Stored(
            id: id, container: container, kind: kind, scope: Int(scope), input: input)
    }

    /// Forgets an operation with its answers.
    package func remove(_ id: String) throws {
        try store.run("DELETE FROM answer WHERE operation = ?", [.text(id)])
        try store.run("DELETE FROM operation WHERE id = ?", [.text(id)])
    }

    /// The answers that an operation has got, in their order.
    package func answers(of id: String) throws -> [(path: String, body: [UInt8])] {
        let rows = try store.run(
            "SELECT path, body FROM answer WHERE operation = ? ORDER BY number", [.text(id)])
        return rows.compactMap { row in
            guard case .text(let path) = row[0], case .bytes(let body) = row[1] else { return nil }
            return (path, body)
        }
    }

    /// Keeps one more answer.
    package func note(
        _ body: [UInt8], to path: String, number: Int, of id: String, now: Date
    ) throws {
        try store.run(
            "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?)",
            [.text(id), .integer(Int64(number)), .text(path), .bytes(body)])
        try store.run(
            "UPDATE operation SET touched = ? WHERE id = ?",
            [.integer(Int64(now.timeIntervalSince1970)), .text(id)])
    }
}

/// Web tokens on a device, each under a name that tells nothing of it.
package struct StoredTokens: Sendable {
    private let store: LocalStore

    package init(_ store: LocalStore) { self.store = store }

    /// The last successor of a token that was handed in; nil where there is none.
    package func token(of name: String) throws -> String? {
        let rows = try store.run("SELECT value FROM token WHERE name = ?", [.text(name)])
        guard case .text(let token)?? = rows.first?.first else { return nil }
        return token
    }

    /// Keeps a token, or forgets it.
    package func keep(_ token: String?, of name: String) throws {
        guard let token else {
            try store.run("DELETE FROM token WHERE name = ?", [.text(name)])
            return
        }
        try store.run("INSERT OR REPLACE INTO token VALUES (?, ?)", [.text(name), .text(token)])
    }
}
