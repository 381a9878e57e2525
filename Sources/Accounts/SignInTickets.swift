import CloudModel
import Cryptography
import Storage

/// The last part of a sign-in address: says for which API token someone may sign in, and until when.
///
/// Nothing is stored when one is made, because browsers send a request that was answered 421 twice
/// and most are never followed: the ticket carries what it says, and a code that only this server
/// can make.
package struct SignInTickets: Sendable {
    private static let format: UInt8 = 1
    private static let hashBytes = SHA256.digestBytes
    private static let codeBytes = 16

    private let key: HMACSHA256
    private let seconds: Int

    /// Reads the secret, making it in a new catalog.
    package init(
        catalog: some CatalogStorage, random: RandomSource, settings: AccountsSettings
    ) throws {
        key = HMACSHA256(key: try catalog.secret("sign-in", orStore: random.bytes(32)))
        seconds = settings.signInSeconds
    }

    /// A ticket of URL-safe characters, good from `now` for the time of the setting.
    package func ticket(for token: APITokenRecord, now: Milliseconds) -> String {
        var bytes = [SignInTickets.format]
        let expiresAt = now + Milliseconds(seconds) * 1_000
        withUnsafeBytes(of: expiresAt.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += token.hash
        bytes += key.code(for: bytes, bytes: SignInTickets.codeBytes)
        return Base64.encode(bytes, .urlSafe)
    }

    /// The hash of the API token that the ticket was made for.
    ///
    /// Nil for a ticket that this server did not make, or whose time is over.
    package func apiTokenHash(of ticket: String, now: Milliseconds) -> [UInt8]? {
        let bodyBytes = 1 + 8 + SignInTickets.hashBytes
        guard let bytes = Base64.decode(ticket, .urlSafe),
            bytes.count == bodyBytes + SignInTickets.codeBytes, bytes[0] == SignInTickets.format,
            key.isValid(Array(bytes[bodyBytes...]), for: Array(bytes[..<bodyBytes]))
        else { return nil }
        let expiresAt = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard now < Milliseconds(bitPattern: expiresAt) else { return nil }
        return Array(bytes[9..<bodyBytes])
    }
}
