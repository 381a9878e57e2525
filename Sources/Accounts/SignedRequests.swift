import CloudModel
import Cryptography
import Storage

/// Checks requests that a server key signed (web-services.md §2.4, rulings.md 7 and 8).
struct SignedRequests: Sendable {
    private let ring: KeyRing
    private let settings: AccountsSettings
    /// What unknown keys and unreadable signatures are replaced by, so that refusing them takes the
    /// same work as refusing a wrong signature.
    private let standInKey: P256PublicKey
    private let standInSignature: [UInt8]

    init(catalog: any CatalogStorage, settings: AccountsSettings) throws {
        ring = KeyRing(catalog: catalog)
        self.settings = settings
        let made = P256PrivateKey()
        standInKey = try P256PublicKey(pem: made.publicKeyPEM)
        standInSignature = made.sign([])
    }

    /// The key that signed the request, or nil when anything at all is wrong with it.
    ///
    /// - Throws: what the catalog reports.
    func signer(
        of credentials: Credentials, _ signature: Credentials.Signature, container: ContainerID,
        environment: Environment, now: Milliseconds
    ) throws -> ServerKeyRecord? {
        let entry = try ring.entry(
            signature.keyID, container: container, environment: environment)
        var der = Base64.decode(signature.signature) ?? []
        let isReadable = ECDSASignature.isWellFormed(der)
        if !isReadable { der = standInSignature }
        let mayBeValid =
            isReadable && isTimely(signature.date, now: now) && !credentials.body.isDoubted
        let key = mayBeValid ? entry?.key : nil

        // A failure that is known already is still worked out to the end, with a key that fails.
        var isSigned = false
        for message in messages(credentials, signature)
        where (key ?? standInKey).verify(signatureDER: der, message: message) {
            isSigned = true
            break
        }
        guard let entry, key != nil, isSigned else { return nil }
        let isAllowed = credentials.onBehalfOf == nil || entry.record.scope == .container
        return isAllowed ? entry.record : nil
    }

    /// Whether the signature may be good, as far as can be told without the body: key, date and form.
    ///
    /// - Throws: what the catalog reports.
    func mayBeGood(
        _ credentials: Credentials, container: ContainerID, environment: Environment,
        now: Milliseconds
    ) throws -> Bool {
        guard let signature = credentials.signature, isTimely(signature.date, now: now),
            ECDSASignature.isWellFormed(Base64.decode(signature.signature) ?? [])
        else { return false }
        return try ring.entry(
            signature.keyID, container: container, environment: environment) != nil
    }

    private func isTimely(_ date: String, now: Milliseconds) -> Bool {
        guard let signedAt = RequestDate.milliseconds(date) else { return false }
        let (distance, isOver) = now.subtractingReportingOverflow(signedAt)
        return !isOver && distance.magnitude <= UInt64(settings.signatureWindowSeconds) * 1_000
    }

    /// Every text that a client may have signed for this request, the usual one first.
    private func messages(
        _ credentials: Credentials, _ signature: Credentials.Signature
    ) -> [[UInt8]] {
        var hashes = [Array(Base64.encode(credentials.body.digest).utf8)]
        if credentials.body.isEmpty { hashes.append([]) }
        var targets = [credentials.target[...]]
        // A name outside the signed text could be put there by anyone.
        if credentials.onBehalfOf == nil,
            let question = credentials.target.firstIndex(of: UInt8(ascii: "?"))
        {
            targets.append(credentials.target[..<question])
        }
        let start = Array(signature.date.utf8) + [UInt8(ascii: ":")]
        return targets.flatMap { target in
            hashes.map { start + $0 + [UInt8(ascii: ":")] + target }
        }
    }
}
