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
        /// What everybody shares.
        case `public` = 1
        /// The caller's own data.
        case `private`
        /// What others share with the caller.
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
    let settings: RequestSettings

    var assetCache: AssetCache { access.assets }

    var connection: ServiceConnection { access.connection }

    var caller: CallerName { access.caller }

    init(
        _ scope: Scope, _ access: DatabaseAccess, _ settings: RequestSettings = .convenience
    ) {
        databaseScope = scope
        self.access = access
        self.settings = settings
    }

    /// The same database with other settings for its requests.
    func with(_ settings: RequestSettings) -> CKDatabase {
        CKDatabase(databaseScope, access, settings)
    }

    /// Sends one request of this database.
    ///
    /// - Parameters:
    ///   - name: what records that the request saves are known by, when the answer to it is lost.
    ///   - contents: writes what the request has to say.
    /// - Throws: `CKError`.
    func call(
        _ operation: String, named name: String? = nil,
        _ contents: (inout JSONText) throws -> Void
    ) async throws -> JSONView {
        var body = JSONText()
        do {
            try body.object(contents)
        } catch {
            throw CKError(error)
        }
        let path = "\(databaseScope.path)/\(operation)"
        if let answer = settings.journal?.answer(to: path) { return answer }
        let answer = try await settings.attempt { timeLimits in
            try await connection.call(path, body.bytes, timeLimits, write: name)
        }
        try settings.journal?.note(answer, to: path)
        return answer
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
    let assets: AssetCache
    let pagesAhead = PagesAhead()
}
