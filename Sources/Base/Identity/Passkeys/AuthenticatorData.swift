/// What an authenticator says and signs (WebAuthn §6.1).
struct AuthenticatorData {
    /// Bits of one byte.
    struct Flags: OptionSet {
        let rawValue: UInt8

        static let userPresent = Flags(rawValue: 0x01)
        static let userVerified = Flags(rawValue: 0x04)
        static let backupEligible = Flags(rawValue: 0x08)
        static let backedUp = Flags(rawValue: 0x10)
        static let hasCredential = Flags(rawValue: 0x40)
        static let hasExtensions = Flags(rawValue: 0x80)
    }

    /// A credential that has just been made.
    struct Credential {
        /// The authenticator's model; zeros where it does not tell.
        let model: [UInt8]
        let id: [UInt8]
        let key: PasskeyPublicKey
    }

    static let bytesMax = 16_384
    /// WebAuthn §4, "Credential ID".
    static let idBytesMax = 1_023
    private static let headBytes = 37

    let relyingPartyHash: [UInt8]
    let flags: Flags
    let signCount: UInt32
    let credential: Credential?

    /// Reads all of it, to the last byte.
    ///
    /// - Throws: `PasskeyRefusal.malformed`, and `unsupportedKey` for a key of another kind.
    init(_ bytes: [UInt8]) throws(PasskeyRefusal) {
        guard (Self.headBytes...Self.bytesMax).contains(bytes.count) else {
            throw .malformed("authenticator data of \(bytes.count) bytes")
        }
        relyingPartyHash = Array(bytes[..<32])
        flags = Flags(rawValue: bytes[32])
        signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
        var position = Self.headBytes
        credential =
            flags.contains(.hasCredential) ? try Self.credential(bytes, &position) : nil
        if flags.contains(.hasExtensions) {
            guard let (value, end) = CBORReader.valueIfAny(bytes, at: position), case .map = value
            else { throw .malformed("the extensions") }
            position = end
        }
        guard position == bytes.count else { throw .malformed("bytes behind the end") }
        // §6.1: what cannot be backed up is not backed up.
        guard !flags.contains(.backedUp) || flags.contains(.backupEligible) else {
            throw .malformed("backed up, but not eligible")
        }
    }

    private static func credential(
        _ bytes: [UInt8], _ position: inout Int
    ) throws(PasskeyRefusal) -> Credential {
        guard bytes.count - position >= 18 else { throw .malformed("the credential's head") }
        let model = Array(bytes[position..<(position + 16)])
        let idCount = Int(bytes[position + 16]) << 8 | Int(bytes[position + 17])
        position += 18
        guard (1...idBytesMax).contains(idCount), idCount <= bytes.count - position else {
            throw .malformed("the credential's id")
        }
        let id = Array(bytes[position..<(position + idCount)])
        position += idCount
        guard let (value, end) = CBORReader.valueIfAny(bytes, at: position) else {
            throw .malformed("the credential's key")
        }
        guard let key = PasskeyPublicKey(value, cose: Array(bytes[position..<end])) else {
            throw .unsupportedKey
        }
        position = end
        return Credential(model: model, id: id, key: key)
    }
}
