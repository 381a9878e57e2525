import CloudModel
import Cryptography
import Storage

/// What an operator does with API tokens.
///
/// Rotation is a second token under another name, then `revoke` of the first.
package struct APITokens: Sendable {
    /// A token just made: the only time that its text is seen.
    package struct Created: Sendable {
        /// 64 lower-case hexadecimal digits.
        package let token: String
        package let record: APITokenRecord
    }

    private static let tokenBytes = 32
    /// Where sign-in hands its outcome to the page that opened it.
    package static let postMessage = "post-message"
    /// What takes a callback from a token.
    package static let noCallback = "none"

    private let catalog: any CatalogStorage
    private let random: RandomSource

    package init(catalog: any CatalogStorage, random: RandomSource = .system) {
        self.catalog = catalog
        self.random = random
    }

    /// Makes a token for one environment of a container.
    ///
    /// - Parameters:
    ///   - name: unique over the server; made up when nil.
    ///   - origins: the pages that may use it; empty for any.
    ///   - callback: `post-message` or a URL; nil for none.
    /// - Throws: `nameIllegal`, `originIllegal`, `callbackIllegal`, `containerUnknown`, `nameTaken`.
    package func create(
        container: ContainerID, environment: Environment, name: String? = nil,
        origins: [String] = [], callback: String? = nil, now: Milliseconds
    ) throws -> Created {
        let token = Hexadecimal.encode(random.bytes(APITokens.tokenBytes))
        let hash = SHA256.digest(Array(token.utf8))
        let origins = try Self.serialized(origins)
        try Self.require(callback: callback, environment)
        let record = APITokenRecord(
            hash: hash,
            name: try PlainName.checked(name) ?? "token-\(Hexadecimal.encode(hash.prefix(4)))",
            container: container, environment: environment, origins: origins,
            callback: callback, createdAt: now)
        try catalog.add(record)
        return Created(token: token, record: record)
    }

    /// Changes where a token may be used and where sign-in delivers; its text stays.
    ///
    /// - Parameters:
    ///   - origins: in place of those before; nil to leave them.
    ///   - callback: in place of the one before, `none` for none; nil to leave it.
    /// - Throws: `apiTokenUnknown`, `originIllegal`, `callbackIllegal`.
    package func change(
        name: String, origins: [String]?, callback: String?
    ) throws -> APITokenRecord {
        let known = try find(name: name)
        let wanted = callback == Self.noCallback ? nil : callback ?? known.callback
        try Self.require(callback: wanted, known.environment)
        let record = APITokenRecord(
            hash: known.hash, name: known.name, container: known.container,
            environment: known.environment,
            origins: try origins.map(Self.serialized) ?? known.origins, callback: wanted,
            createdAt: known.createdAt, usedAt: known.usedAt)
        try catalog.add(record, replaces: true)
        return record
    }

    /// - Parameter some: only those of these containers; nil for all.
    /// - Throws: `UnusableCursor`.
    package func list(
        _ request: ListRequest = ListRequest(), of some: Set<ContainerID>? = nil
    ) throws -> ListPage<APITokenRecord> { try catalog.apiTokens(request, of: some) }

    /// - Throws: `apiTokenUnknown`.
    package func find(name: String) throws -> APITokenRecord { try catalog.apiToken(name: name) }

    /// Ends a token: it is refused from the next request on.
    ///
    /// - Throws: `apiTokenUnknown`.
    package func revoke(name: String) throws { try catalog.deleteAPIToken(name: name) }

    private static func serialized(_ origins: [String]) throws -> [String] {
        try Set(
            origins.map { origin in
                guard let origin = WebOrigin.serialized(origin) else {
                    throw AccountsRefusal.originIllegal
                }
                return origin
            }
        ).sorted()
    }

    private static func require(callback: String?, _ environment: Environment) throws {
        guard callback.map({ isLegal(callback: $0, environment) }) ?? true else {
            throw AccountsRefusal.callbackIllegal
        }
    }

    private static func isLegal(callback: String, _ environment: Environment) -> Bool {
        if callback == postMessage { return true }
        guard WebAddress.isLegal(callback) else { return false }
        return environment == .development || WebAddress.scheme(callback) != "http"
    }
}
