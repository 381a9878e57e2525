import Accounts
import CloudDatabase
import CloudModel
import Storage
import Synchronization

/// Tells whether the address of an asset still works for those who got it.
///
/// The API token or server key must still exist, and so must the user. In a shared database, the user must
/// still see what the address is for. What the catalog says is cached until the catalog changes; shares are
/// read each time.
final class OriginValidity: Sendable {
    private struct Key: Hashable {
        let origin: AssetOrigin
        let container: ContainerID
    }

    private struct State {
        var version = 0
        /// By whether the catalog knows them.
        var stand: [Key: Bool] = [:]
        /// By what links say of them.
        var opened: [String: AssetOrigin] = [:]
    }

    private static let entriesMax = 16_384

    private let catalog: any CatalogStorage
    private let limits: ServiceLimits
    private let state = Mutex(State())

    init(catalog: any CatalogStorage, limits: ServiceLimits) {
        self.catalog = catalog
        self.limits = limits
    }

    /// Who got a link.
    ///
    /// The link's signature must have been checked.
    func origin(_ text: String, by tokens: AssetTokens) -> AssetOrigin? {
        if let known = state.withLock({ $0.opened[text] }) { return known }
        guard let origin = tokens.origin(text) else { return nil }
        state.withLock { state in
            if state.opened.count >= Self.entriesMax { state.opened = [:] }
            state.opened[text] = origin
        }
        return origin
    }

    /// - Throws: `Fault` ACCESS_DENIED when the address no longer works, TRY_AGAIN_LATER while nobody can
    ///   tell; what the catalog and the store report.
    func require(
        _ origin: AssetOrigin, in container: ContainerID, _ store: any Store, loop: Int?
    ) throws {
        try requireKnown(origin, in: container)
        guard origin.sharedItem != nil else { return }
        guard try store.read(by: StoreReader(loop: loop), { try origin.isSeen(in: $0, limits) })
        else {
            throw Self.withdrawn
        }
    }

    /// - Throws: `Fault` ACCESS_DENIED when the credential or the user is gone; what the catalog reports.
    func requireKnown(_ origin: AssetOrigin, in container: ContainerID) throws {
        guard try isKnown(origin, in: container) else { throw Self.withdrawn }
    }

    private func isKnown(_ origin: AssetOrigin, in container: ContainerID) throws -> Bool {
        // Only the store can tell about the place.
        let key = Key(
            origin: AssetOrigin(credential: origin.credential, user: origin.user),
            container: container)
        let version = catalog.version
        let known = state.withLock { state -> Bool? in
            if state.version != version {
                state.version = version
                state.stand = [:]
            }
            return state.stand[key]
        }
        if let known { return known }
        let stands = try isInCatalog(origin, container)
        state.withLock { state in
            guard state.version == version else { return }
            if state.stand.count >= Self.entriesMax { state.stand = [:] }
            state.stand[key] = stands
        }
        return stands
    }

    private func isInCatalog(_ origin: AssetOrigin, _ container: ContainerID) throws -> Bool {
        let hasCredential =
            switch origin.credential {
            case .apiToken(let mark):
                try catalog.apiToken(.hashPrefix(mark))?.container == container
            case .serverKey(let mark):
                try catalog.serverKeys(
                    ListRequest(limit: 1, prefix: String(decoding: mark, as: UTF8.self))
                ).items.first?.container == container
            }
        guard hasCredential, let user = origin.user else { return hasCredential }
        return try catalog.account(named: user, in: container) != nil
    }

    private static let withdrawn = Fault(
        .accessDenied, "the address has been withdrawn from whom it was given to")
}

extension AssetOrigin {
    /// Those who get a request's addresses.
    init(_ identified: Identified) {
        let caller = identified.caller
        let credential: Credential
        if let keyID = caller.keyID {
            credential = .serverKey(Array(keyID.utf8.prefix(2 * Self.markBytes)))
        } else {
            credential = .apiToken(
                Array((identified.apiToken?.hash ?? []).prefix(Self.markBytes)))
        }
        self.init(
            credential: credential,
            user: caller.kind == .user ? caller.userRecordName : nil)
    }
}
