import CloudModel
import Cryptography
import Storage

/// The last part of a sign-in address.
///
/// It names the API token that the sign-in is for, the origin of the page, and its own end
/// (rulings.md 55).
///
/// The server stores nothing when it makes a ticket: browsers repeat a request that was answered 421,
/// and most of these addresses are never opened. The ticket contains what it says, and a code that
/// only this server can make. It works any number of times.
package struct SignInTickets: Sendable {
    /// What a ticket says.
    package struct Contents: Sendable, Equatable {
        /// SHA-256 of the API token.
        package let apiTokenHash: [UInt8]
        /// Of the page whose request was answered with the ticket; nil for a request of no page.
        package let origin: String?
    }

    private static let format: UInt8 = 1
    private static let hashBytes = SHA256.digestBytes
    private static let codeBytes = 16
    private static let headBytes = 1 + 8 + hashBytes

    private let key: HMACSHA256
    private let seconds: Int

    /// Reads the secret, making it in a new catalog.
    package init(
        catalog: any CatalogStorage, random: RandomSource, settings: AccountsSettings
    ) throws {
        key = HMACSHA256(key: try catalog.secret("sign-in", orStore: random.bytes(32)))
        seconds = settings.signInSeconds
    }

    /// A ticket of URL-safe characters, good from `now` for the time of the setting.
    ///
    /// - Parameter origin: as the request had it; what is no origin of a page is left out.
    package func ticket(
        for token: APITokenRecord, origin: String? = nil, now: Milliseconds
    ) -> String {
        var bytes = [SignInTickets.format]
        let expiresAt = now + Milliseconds(seconds) * 1_000
        withUnsafeBytes(of: expiresAt.bigEndian) { bytes.append(contentsOf: $0) }
        bytes += token.hash
        bytes += Array((origin.flatMap(WebOrigin.serialized) ?? "").utf8)
        bytes += key.code(for: bytes, bytes: SignInTickets.codeBytes)
        return Base64.encode(bytes, .urlSafe)
    }

    /// What a ticket says.
    ///
    /// Nil for a ticket that this server did not make, or whose time is over.
    package func contents(of ticket: String, now: Milliseconds) -> Contents? {
        guard let bytes = Base64.decode(ticket, .urlSafe),
            bytes.count >= SignInTickets.headBytes + SignInTickets.codeBytes,
            bytes[0] == SignInTickets.format
        else { return nil }
        let bodyBytes = bytes.count - SignInTickets.codeBytes
        guard key.isValid(Array(bytes[bodyBytes...]), for: Array(bytes[..<bodyBytes])) else {
            return nil
        }
        let expiresAt = bytes[1..<9].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard now < Milliseconds(bitPattern: expiresAt) else { return nil }
        let origin = bytes[SignInTickets.headBytes..<bodyBytes]
        return Contents(
            apiTokenHash: Array(bytes[9..<SignInTickets.headBytes]),
            origin: origin.isEmpty ? nil : String(decoding: origin, as: UTF8.self))
    }
}
