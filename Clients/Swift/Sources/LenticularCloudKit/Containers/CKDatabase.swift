import CloudKitTransport
import CloudKitWire
import Foundation

/// One of a container's three databases, as one person or program sees it.
///
/// Every method throws only when the whole request failed. What concerns one item is in that item's result,
/// under the very ID that was passed in.
public final class CKDatabase: NSObject, Sendable {
    /// Which of the three.
    public enum Scope: Int, Sendable {
        case `public` = 1
        case `private`
        case shared

        var path: String {
            switch self {
            case .public: "public"
            case .private: "private"
            case .shared: "shared"
            }
        }
    }

    /// Which of the three it is.
    public let databaseScope: Scope
    let access: DatabaseAccess
    let assetCache = AssetCache.standard

    var connection: ServiceConnection { access.connection }

    var caller: CallerName { access.caller }

    init(_ scope: Scope, _ access: DatabaseAccess) {
        databaseScope = scope
        self.access = access
    }

    /// Sends one request of this database.
    ///
    /// - Throws: `CKError`.
    func call(
        _ operation: String, _ write: (inout JSONText) throws -> Void
    ) async throws -> JSONView {
        var body = JSONText()
        do {
            try body.object(write)
            return try await connection.call("\(databaseScope.path)/\(operation)", body.bytes)
        } catch {
            throw CKError(error)
        }
    }

    /// Reads answers of this database.
    func reader() async throws -> AnswerReader {
        let user: String?
        // Who the caller is decides which zones are theirs, and only in other people's zones.
        if databaseScope == .shared {
            do {
                user = try await caller.name(by: connection)
            } catch {
                throw CKError(error)
            }
        } else {
            user = await caller.known
        }
        return AnswerReader(
            user: user, scope: databaseScope, links: connection.shareLinks)
    }
}

/// What a container's databases have in common.
struct DatabaseAccess: Sendable {
    let container: String
    let connection: ServiceConnection
    let caller: CallerName
    let keys: AccountKeys
}

/// The caller's user record name, asked for once.
actor CallerName {
    private(set) var known: String?

    func name(by connection: ServiceConnection) async throws -> String {
        if let known { return known }
        let answer = try await connection.call("public/users/caller", Array("{}".utf8))
        guard let name = answer["userRecordName"]?.string else {
            throw TransportFailure.unreadable(status: 200)
        }
        known = name
        return name
    }
}
