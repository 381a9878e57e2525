import CloudModel
import Cryptography

/// The codes of authenticator apps (TOTP, RFC 6238): six digits that change every 30 seconds.
///
/// The secret belongs to the account and is kept sealed. A code counts once. For this, the caller
/// who accepts a code stores the step that `step(of:at:after:)` gave, in the same transaction. The next
/// time the caller hands that step in.
package struct TimeCodes: Sendable {
    package static let stepSeconds = 30
    package static let digits = 6
    /// How many steps a device's clock may be off, either way.
    package static let skewSteps: Int64 = 1
    /// As long as the digest, which RFC 4226 §4 recommends.
    package static let secretBytes = HMACSHA1.codeBytes

    private let secret: [UInt8]

    package init(secret: [UInt8]) { self.secret = secret }

    /// A secret for an account that has none.
    package static func makeSecret(_ random: RandomSource) -> [UInt8] { random.bytes(secretBytes) }

    /// The step that a time lies in.
    package static func step(at time: Milliseconds) -> Int64 {
        time / (Int64(stepSeconds) * 1_000)
    }

    /// The code of a step.
    ///
    /// - Parameter digits: from 6 to 8.
    package func code(ofStep step: Int64, digits: Int = TimeCodes.digits) -> String {
        precondition((6...8).contains(digits))
        let message = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * Int64($0))) }
        let digest = HMACSHA1.code(for: message, key: secret)
        let offset = Int(digest[digest.count - 1] & 15)
        // RFC 4226 §5.3: 31 bits from there on.
        let number = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let modulus = (0..<digits).reduce(UInt32(1)) { product, _ in product * 10 }
        let text = String((number & 0x7FFF_FFFF) % modulus)
        return String(repeating: "0", count: digits - text.count) + text
    }

    /// Which step's code a text is; nil when it is not a code of this time.
    ///
    /// Takes the same time whichever it is. Spaces are passed over, as apps show them.
    /// - Parameter lastStep: of the code that was accepted last; it and earlier ones do not count.
    package func step(
        of text: String, at time: Milliseconds, after lastStep: Int64?
    ) -> Int64? {
        let typed = text.utf8.filter { $0 != UInt8(ascii: " ") }
        let now = Self.step(at: time)
        var found: Int64?
        for step in (now - Self.skewSteps)...(now + Self.skewSteps) {
            let isEqual = ConstantTime.areEqual(typed, Array(code(ofStep: step).utf8))
            if isEqual, step > lastStep ?? .min { found = found ?? step }
        }
        return found
    }

    /// What an app reads from a QR code: a secret, to be shown to its owner alone.
    ///
    /// - Parameters:
    ///   - issuer: the server's name as its owner knows it.
    ///   - account: what the account's owner knows it by.
    package func address(issuer: String, account: String) -> String {
        let label = "\(PercentEncoding.encode(issuer)):\(PercentEncoding.encode(account))"
        return "otpauth://totp/\(label)?secret=\(Base32.encode(secret))"
            + "&issuer=\(PercentEncoding.encode(issuer))&algorithm=SHA1&digits=\(Self.digits)"
            + "&period=\(Self.stepSeconds)"
    }
}
