import CloudModel
import Storage

/// Says whether destinations may still be told of anything: each ends with the session by which it registered.
///
/// However a session ends, by signing out, by revocation, with the account or because nobody has gone on with it: its
/// device shows no notices any more.
package struct DestinationSessions: Sendable {
    private let catalog: any CredentialCatalog
    private let clock: Clock

    package init(catalog: any CredentialCatalog, clock: Clock) {
        self.catalog = catalog
        self.clock = clock
    }

    /// When the session of a destination ends: far away for one of no session, nil for one that has ended.
    package func end(of destination: StoredDestination) throws -> Milliseconds? {
        guard let session = destination.session else { return .max }
        return try catalog.sessionEnd(session).flatMap { $0 > clock.now() ? $0 : nil }
    }

    package func hasEnded(_ destination: StoredDestination) throws -> Bool {
        try end(of: destination) == nil
    }
}
