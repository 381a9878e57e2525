import Cryptography

/// The public key of a passkey, as COSE writes it (RFC 9052, RFC 9053): ES256 on P-256, or RS256.
package struct PasskeyPublicKey: Sendable {
    /// What a page offers when a passkey is made, the preferred first: COSE's numbers.
    package static let algorithms = [es256, rs256]

    private static let es256 = -7
    private static let rs256 = -257

    private enum Key: Sendable {
        case p256(P256PublicKey)
        case rsa(RSAPublicKey)
    }

    /// What is kept of it.
    package let cose: [UInt8]
    private let key: Key

    /// Reads a COSE_Key to its last byte; nil for a key of another kind, and for bytes that are not
    /// a key.
    package init?(cose: [UInt8]) {
        guard let (value, end) = CBORReader.valueIfAny(cose), end == cose.count else { return nil }
        self.init(value, cose: cose)
    }

    init?(_ value: CBORValue, cose: [UInt8]) {
        // RFC 9052 §7.1: 1 is the kind of key, 3 the algorithm; the others are the kind's own.
        do throws(KeyRefusal) {
            switch (value[1]?.integer, value[3]?.integer) {
            case (2, Self.es256):
                guard value[-1]?.integer == 1, let x = value[-2]?.bytes, let y = value[-3]?.bytes,
                    x.count == 32, y.count == 32
                else { return nil }
                key = .p256(try P256PublicKey(point: [4] + x + y))
            case (3, Self.rs256):
                guard let modulus = value[-1]?.bytes, let exponent = value[-2]?.bytes,
                    let rsa = RSAPublicKey(modulus: modulus, exponent: exponent)
                else { return nil }
                key = .rsa(rsa)
            default: return nil
            }
        } catch {
            return nil
        }
        self.cose = cose
    }

    func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        switch key {
        case .p256(let key): key.verify(signatureDER: signature, message: message)
        case .rsa(let key): key.verify(signature: signature, message: message)
        }
    }
}

extension CBORReader {
    /// As `value`, but nil in place of an error.
    static func valueIfAny(
        _ bytes: [UInt8], at position: Int = 0
    ) -> (value: CBORValue, end: Int)? {
        do throws(CBORRefusal) { return try value(bytes, at: position) } catch { return nil }
    }
}
