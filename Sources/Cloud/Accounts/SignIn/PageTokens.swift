import CloudModel
import Cryptography
import Storage

/// What one page passes to the next through the browser: sealed, for one browser, for a few minutes.
///
/// The server does not store unused ones, so strangers cannot fill its memory. When a one-time pass is used,
/// the server stores its digest until it expires.
package struct PageTokens: Sendable {
    /// What a pass is for; a pass of another purpose is refused.
    package enum Purpose: String, Sendable {
        /// The password was right, and the second factor is asked for.
        case secondFactor = "pass: second factor"
        /// The secret of a second factor that is being set up.
        case newSecondFactor = "pass: new second factor"
        /// A sign-in that goes on at an identity provider.
        case provider = "pass: provider"
        /// The challenge for an authenticator.
        case passkey = "pass: passkey"
        /// The page to go on to after the sign-in.
        case returnPath = "pass: return path"
        /// An address that somebody typed before they had to show who they are.
        case address = "pass: address"
    }

    private static let digestBytes = 16
    /// A longer text cannot be a pass.
    private static let textBytesMax = 8_192

    let catalog: any CatalogStorage
    let secrets: SealedSecrets

    /// Makes one of URL-safe characters.
    ///
    /// - Parameter browser: what the browser's cookie holds, in which alone the pass is good.
    package func make(
        _ purpose: Purpose, _ contents: [String], browser: String, seconds: Int,
        now: Milliseconds
    ) -> String {
        let expiresAt = now + Milliseconds(seconds) * 1_000
        var bytes = withUnsafeBytes(of: expiresAt.bigEndian) { Array($0) }
        for text in contents {
            let text = Array(text.utf8)
            bytes += withUnsafeBytes(of: UInt16(clamping: text.count).bigEndian) { Array($0) }
            bytes += text.prefix(Int(UInt16.max))
        }
        return Base64.encode(secrets.seal(bytes, for: subject(purpose, browser)), .urlSafe)
    }

    /// What a pass holds; nil for one of another browser or purpose, for anything else, and when it has
    /// expired.
    package func open(
        _ text: String?, _ purpose: Purpose, browser: String?, now: Milliseconds
    ) -> [String]? {
        guard let text, let browser, text.utf8.count <= Self.textBytesMax,
            let sealed = Base64.decode(text, .urlSafe)
        else { return nil }
        // NB: anything else that is sent in place of a pass is refused.
        guard let bytes = try? secrets.open(sealed, for: subject(purpose, browser)),
            bytes.count >= 8, now < Self.expiry(bytes)
        else { return nil }
        var contents: [String] = []
        var rest = bytes[8...]
        while rest.count >= 2 {
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            contents.append(String(decoding: rest.dropFirst(2).prefix(count), as: UTF8.self))
            rest = rest.dropFirst(2 + count)
        }
        return contents
    }

    /// Uses a pass that `open` has opened.
    ///
    /// - Returns: false when it was used before: only one of many comes first.
    package func spend(_ text: String, seconds: Int, now: Milliseconds) throws -> Bool {
        try catalog.spend(
            SHA256.digest(Array(text.utf8)), expiresAt: now + Milliseconds(seconds) * 1_000,
            now: now)
    }

    private static func expiry(_ bytes: [UInt8]) -> Milliseconds {
        Milliseconds(bitPattern: bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    private func subject(_ purpose: Purpose, _ browser: String) -> SecretSubject {
        let digest = SHA256.digest(Array(browser.utf8)).prefix(Self.digestBytes)
        return SecretSubject(purpose: purpose.rawValue, owner: Hexadecimal.encode(digest))
    }
}
