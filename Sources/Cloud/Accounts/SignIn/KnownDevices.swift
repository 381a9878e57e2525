import CloudModel
import Cryptography
import Storage

/// Knows the browsers in which an account has signed in before, by what their cookie holds.
///
/// The server stores nothing. A cookie holds a random name, and a code over it that only this
/// server can make for the account.
package struct KnownDevices: Sendable {
    private static let nameBytes = 16
    private let key: HMACSHA256
    private let random: RandomSource

    /// Reads the secret, making it in a new catalog.
    package init(catalog: any CatalogStorage, random: RandomSource) throws {
        key = HMACSHA256(key: try catalog.secret("known-devices", orStore: random.bytes(32)))
        self.random = random
    }

    /// The cookie for a browser that the account has signed in with.
    package func cookie(for account: AccountID) -> String {
        let name = random.bytes(Self.nameBytes)
        return Hexadecimal.encode(name + key.code(for: message(name, account)))
    }

    /// The name of a browser at which the account has signed in; nil for any other browser.
    package func name(in cookie: String?, of account: AccountID?) -> String? {
        let bytes = cookie.flatMap { Hexadecimal.decode($0) } ?? []
        let isWhole = bytes.count == Self.nameBytes + HMACSHA256.codeBytes
        let name = isWhole ? Array(bytes[..<Self.nameBytes]) : []
        let code =
            isWhole ? Array(bytes[Self.nameBytes...]) : [UInt8](repeating: 0, count: 32)
        // The work is the same for every account.
        let isKnown = key.isValid(code, for: message(name, account ?? AccountID("")))
        return isKnown && account != nil ? Hexadecimal.encode(name) : nil
    }

    private func message(_ name: [UInt8], _ account: AccountID) -> [UInt8] {
        name + Array(account.text.utf8)
    }
}
