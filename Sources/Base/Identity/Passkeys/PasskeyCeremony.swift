import Cryptography
import JSON

/// Why what an authenticator sent is not believed.
package enum PasskeyRefusal: Error, Sendable, Equatable {
    case malformed(String)
    /// Made for another page, challenge, purpose or server.
    case otherCeremony(String)
    /// The authenticator did not notice a user, or did not check who they are although that is required.
    case userAbsent
    /// A key that is neither ES256 nor RS256.
    case unsupportedKey
    case wrongSignature
    /// The counter did not go on: the key may have been copied.
    case counterStalled
}

/// A passkey as it is kept.
package struct Passkey: Sendable {
    /// Unique among all passkeys of the server.
    package let id: [UInt8]
    package let key: PasskeyPublicKey
    /// Zero for authenticators that do not count.
    package let signCount: UInt32
    /// The authenticator's model (AAGUID), 16 bytes; zeros where it does not tell.
    package let model: [UInt8]
    /// Whether it may exist on several devices of its owner.
    package let isBackupEligible: Bool
    package let isBackedUp: Bool
    /// Whether the authenticator has checked who uses it, by a PIN or a fingerprint, so that no other factor is
    /// needed.
    package let isUserVerified: Bool
}

/// What a sign-in by a passkey has shown.
package struct PasskeyUse: Sendable, Equatable {
    /// The new count, to be stored in the transaction that lets the owner in.
    package let signCount: UInt32
    package let isBackedUp: Bool
    package let isUserVerified: Bool
}

/// One exchange with an authenticator (WebAuthn §7): what was asked, and the check of what comes back.
///
/// Pure. The caller makes the challenge: `challengeBytes` random bytes, used once, for a few minutes. The
/// caller also looks up the passkey by its id, and checks that it belongs to the account.
package struct PasskeyCeremony: Sendable {
    package static let challengeBytes = 32
    private static let clientDataBytesMax = 8_192

    private let challenge: [UInt8]
    private let relyingParty: String
    private let origins: Set<String>
    private let requiresVerification: Bool

    /// - Parameters:
    ///   - challenge: that was sent to the page.
    ///   - relyingParty: the host's name that passkeys are bound to, such as `sync.example.com`.
    ///   - origins: of the server's own pages, such as `https://sync.example.com`.
    ///   - requiresVerification: whether the authenticator has to check who uses it.
    package init(
        challenge: [UInt8], relyingParty: String, origins: Set<String>,
        requiresVerification: Bool
    ) {
        self.challenge = challenge
        self.relyingParty = relyingParty
        self.origins = origins
        self.requiresVerification = requiresVerification
    }

    /// Checks a passkey that was just made (§7.1).
    ///
    /// No statement of attestation is asked for, so none is looked at: the passkey proves what it is
    /// by being used.
    /// - Throws: `PasskeyRefusal`.
    package func register(
        clientData: [UInt8], attestationObject: [UInt8]
    ) throws(PasskeyRefusal) -> Passkey {
        try require(clientData, type: "webauthn.create")
        guard attestationObject.count <= AuthenticatorData.bytesMax,
            let (object, end) = CBORReader.valueIfAny(attestationObject),
            end == attestationObject.count, object["fmt"]?.text != nil,
            case .map(let statement) = object["attStmt"], let bytes = object["authData"]?.bytes,
            object["fmt"]?.text != "none" || statement.isEmpty
        else { throw .malformed("the attestation object") }
        let data = try AuthenticatorData(bytes)
        try require(data)
        guard let credential = data.credential else { throw .malformed("no credential") }
        return Passkey(
            id: credential.id, key: credential.key, signCount: data.signCount,
            model: credential.model, isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified))
    }

    /// Checks that somebody has used a passkey (§7.2).
    ///
    /// - Parameter signCount: that was kept of its last use.
    /// - Throws: `PasskeyRefusal`.
    package func authenticate(
        clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8],
        key: PasskeyPublicKey, signCount: UInt32
    ) throws(PasskeyRefusal) -> PasskeyUse {
        try require(clientData, type: "webauthn.get")
        let data = try AuthenticatorData(authenticatorData)
        try require(data)
        guard key.verify(signature, over: authenticatorData + SHA256.digest(clientData)) else {
            throw .wrongSignature
        }
        guard data.signCount > signCount || (data.signCount == 0 && signCount == 0) else {
            throw .counterStalled
        }
        return PasskeyUse(
            signCount: data.signCount, isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified))
    }

    /// What the browser says that it was asked (§5.8.1).
    private func require(_ clientData: [UInt8], type: String) throws(PasskeyRefusal) {
        guard clientData.count <= Self.clientDataBytesMax else {
            throw .malformed("client data of \(clientData.count) bytes")
        }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: clientData).root } catch {
            throw .malformed("the client data")
        }
        guard root["type"]?.string == type else { throw .otherCeremony("type") }
        let answered = root["challenge"]?.string.flatMap { Base64.decode($0, .urlSafe) }
        guard let answered, ConstantTime.areEqual(answered, challenge) else {
            throw .otherCeremony("challenge")
        }
        guard let origin = root["origin"]?.string, origins.contains(origin) else {
            throw .otherCeremony("origin")
        }
        // When another site shows our page in a frame, the sign-in belongs to that site.
        guard root["crossOrigin"]?.bool != true, root["topOrigin"] == nil else {
            throw .otherCeremony("crossOrigin")
        }
    }

    private func require(_ data: AuthenticatorData) throws(PasskeyRefusal) {
        guard
            ConstantTime.areEqual(
                data.relyingPartyHash, SHA256.digest(Array(relyingParty.utf8)))
        else { throw .otherCeremony("relying party") }
        guard data.flags.contains(.userPresent),
            !requiresVerification || data.flags.contains(.userVerified)
        else { throw .userAbsent }
    }
}
