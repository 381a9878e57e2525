import CloudModel
import Cryptography
import Storage

/// Checks requests that a server key signed (web-services.md §2.4, rulings.md 7 and 8).
struct SignedRequests: Sendable {
    private let ring: KeyRing
    private let settings: AccountsSettings
    /// These take the place of unknown keys and unreadable signatures.
    ///
    /// So refusing them takes the same work as refusing a wrong signature.
    private let standInKey: P256PublicKey
    private let standInSignature: [UInt8]

    init(catalog: any CatalogStorage, settings: AccountsSettings) throws {
        ring = KeyRing(catalog: catalog)
        self.settings = settings
        let made = P256PrivateKey()
        standInKey = try P256PublicKey(pem: made.publicKeyPEM)
        standInSignature = made.sign([])
    }

    /// The key that signed the request, or what is wrong with the request.
    ///
    /// The caller must not learn what is wrong.
    ///
    /// - Throws: what the catalog reports.
    func signer(
        of credentials: Credentials, _ signature: Credentials.Signature, container: ContainerID,
        environment: Environment, now: Milliseconds
    ) throws -> Result<ServerKeyRecord, Refused> {
        let entry = try ring.entry(
            signature.keyID, container: container, environment: environment)
        var der = Base64.decode(signature.signature) ?? []
        let isReadable = ECDSASignature.isWellFormed(der)
        if !isReadable { der = standInSignature }
        let fault = dateFault(signature.date, now: now)
        let mayBeValid = isReadable && fault == nil && !credentials.body.isDoubted
        let key = mayBeValid ? entry?.key : nil

        // A failure that is known already is still worked out to the end, with a key that fails.
        var isSigned = false
        for message in messages(credentials, signature)
        where (key ?? standInKey).verify(signatureDER: der, message: message) {
            isSigned = true
            break
        }
        guard let entry else { return .failure(Refused(why: .keyUnknown)) }
        guard isReadable else { return .failure(Refused(why: .signatureUnreadable)) }
        if let fault { return .failure(Refused(why: fault)) }
        guard isSigned else { return .failure(Refused(why: .signatureWrong)) }
        let isAllowed = credentials.onBehalfOf == nil || entry.record.scope == .container
        return isAllowed ? .success(entry.record) : .failure(Refused(why: .scopeTooNarrow))
    }

    struct Refused: Error {
        let why: CredentialRefusal
    }

    /// Whether the signature may be good, as far as can be told without the body: key, date and form.
    ///
    /// - Throws: what the catalog reports.
    func mayBeGood(
        _ credentials: Credentials, container: ContainerID, environment: Environment,
        now: Milliseconds
    ) throws -> Bool {
        guard let signature = credentials.signature, dateFault(signature.date, now: now) == nil,
            ECDSASignature.isWellFormed(Base64.decode(signature.signature) ?? [])
        else { return false }
        return try ring.entry(
            signature.keyID, container: container, environment: environment) != nil
    }

    /// What is wrong with the date of a request; nil when it is near enough.
    private func dateFault(_ date: String, now: Milliseconds) -> CredentialRefusal? {
        guard let signedAt = RequestDate.milliseconds(date) else { return .dateUnreadable }
        let (distance, isOver) = now.subtractingReportingOverflow(signedAt)
        let isNear =
            !isOver && distance.magnitude <= UInt64(settings.signatureWindowSeconds) * 1_000
        return isNear ? nil : .dateTooFar
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
