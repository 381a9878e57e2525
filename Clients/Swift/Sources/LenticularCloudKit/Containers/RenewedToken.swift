import CloudKitStore
import CloudKitTransport
import Foundation

/// Keeps the successors of a token that stands in a file, which nobody rewrites.
enum RenewedToken {
    /// A service whose token is the last successor of the one that it was given.
    ///
    /// Successors are kept by the digest of the first: another token in the file begins anew.
    static func resume(_ service: ServerAccess, in store: LocalStore?) -> ServerAccess {
        guard case .webAuthToken(let first) = service.credentials, let store else { return service }
        let tokens = StoredTokens(store)
        let name = Data(SHA256Digest.of(Array("lenticular token \(first)".utf8)))
            .base64EncodedString()
        var resumed = service
        // NB: A store that cannot be read costs a sign-in at most.
        if let kept = try? tokens.token(of: name) { resumed.credentials = .webAuthToken(kept) }
        resumed.onTokenChange = { fresh in
            // NB: The same.
            try? tokens.keep(fresh, of: name)
            service.onTokenChange?(fresh)
        }
        return resumed
    }
}
