import CloudModel
import Cryptography
import Storage

/// Who may create an account without an operator.
package enum SignUpMode: String, Sendable, CaseIterable {
    case off
    /// Only people with a link from the operator.
    case invitation
    /// Everybody with an address that a link can be sent to.
    case open
}

/// Everything about accounts that the pages for people use, made once for each server.
package struct AccountUseCases: Sendable {
    package let catalog: any CatalogStorage
    package let sessions: BrowserSessions
    package let signIn: PasswordSignIn
    package let passwords: Passwords
    package let devices: KnownDevices
    package let letters: Letters
    package let letterAnswers: LetterAnswers
    package let handOver: HandOver
    package let secondFactors: SecondFactors
    package let endings: AccountEndings
    package let passkeys: Passkeys
    package let identityProviders: IdentityProviders
    /// Nil where providers cannot be asked.
    package let providerSignIn: ProviderSignIn?
    /// Where providers send people back to.
    package let providerRedirectURL: String
    private let limits: GuessLimits
    /// Makes a file of all that is stored about a person; nil where that is not possible, and while another is
    /// being made.
    package let export: Export?
    package let pageTokens: PageTokens
    package let operatorSessions: OperatorSessions
    package let operatorTokens: OperatorTokens
    package let firstOperator: FirstOperator
    /// Notes what people do to their own accounts before it is done; what cannot be noted is not done.
    package let note: Note
    /// Hears of failed sign-ins; those by password and code are reported without the pages.
    package let failed: SignInFailure.Told
    package let settings: AccountsSettings
    package let signUp: SignUpMode
    /// The kinds of addresses that letters reach: mail, phones, both or none.
    package let letterKinds: Set<Address.Kind>
    /// Where browsers reach the server, without a slash at the end.
    package let publicBaseURL: String
    /// The host's name in it.
    package let host: String
    /// Signs the pages' forms.
    package let formKey: [UInt8]
    package let random: RandomSource

    /// - Parameter what: such as `second factor removed`.
    package typealias Note =
        @Sendable (_ what: String, _ account: AccountID, _ now: Milliseconds) throws -> Void

    package typealias Export = @Sendable (AccountRecord) throws -> PersonalFile?

    /// - Parameters:
    ///   - secrets: seal what has to be read back.
    ///   - processCount: how many processes share what people may ask for in an hour.
    /// - Throws: what the catalog reports when its secrets are read.
    package init(
        catalog: any CatalogStorage, random: RandomSource = .system, secrets: SealedSecrets,
        settings: AccountsSettings = AccountsSettings(), signUp: SignUpMode = .invitation,
        letterKinds: Set<Address.Kind>, publicBaseURL: String,
        processCount: @escaping @Sendable () -> Int = { 1 },
        note: @escaping Note = { _, _, _ in },
        failed: @escaping SignInFailure.Told = { _ in },
        export: Export? = nil, fetch: (any ProviderFetch)? = nil
    ) throws {
        let limits = try GuessLimits(catalog: catalog, random: random)
        self.catalog = catalog
        self.random = random
        self.settings = settings
        self.signUp = signUp
        self.letterKinds = letterKinds
        self.publicBaseURL = publicBaseURL
        sessions = BrowserSessions(catalog: catalog, random: random, settings: settings)
        devices = try KnownDevices(catalog: catalog, random: random)
        signIn = PasswordSignIn(
            catalog: catalog, limits: limits, devices: devices, random: random, settings: settings,
            failed: failed)
        passwords = Passwords(catalog: catalog, random: random, costs: settings.passwordCosts)
        letters = Letters(
            catalog: catalog, limits: limits, random: random, secrets: secrets, settings: settings,
            processCount: processCount)
        letterAnswers = LetterAnswers(catalog: catalog, passwords: passwords, random: random)
        handOver = try HandOver(
            catalog: catalog,
            tokens: WebTokens(catalog: catalog, random: random, settings: settings),
            random: random, settings: settings)
        secondFactors = SecondFactors(
            catalog: catalog, secrets: secrets, limits: limits, devices: devices, random: random,
            settings: settings, failed: failed)
        endings = AccountEndings(catalog: catalog, settings: settings)
        operatorSessions = try OperatorSessions(
            catalog: catalog, signIn: signIn, secondFactors: secondFactors, random: random)
        operatorTokens = OperatorTokens(catalog: catalog, random: random)
        firstOperator = FirstOperator(catalog: catalog, passwords: passwords, random: random)
        self.export = export
        let pageTokens = PageTokens(catalog: catalog, secrets: secrets)
        self.pageTokens = pageTokens
        self.note = note
        self.failed = failed
        self.limits = limits
        host = Self.host(of: publicBaseURL)
        passkeys = Passkeys(
            catalog: catalog, pageTokens: pageTokens, relyingParty: host, origin: publicBaseURL,
            random: random)
        identityProviders = IdentityProviders(catalog: catalog, secrets: secrets)
        let redirectURL = "\(publicBaseURL)/sign-in/back"
        providerRedirectURL = redirectURL
        providerSignIn = fetch.map {
            ProviderSignIn(
                catalog: catalog, secrets: secrets, pageTokens: pageTokens, fetch: $0,
                redirectURL: redirectURL, random: random)
        }
        formKey = try catalog.secret("page-forms", orStore: random.bytes(32))
    }

    /// Whether letters can be sent at all.
    package var hasLetters: Bool { !letterKinds.isEmpty }

    /// Whether letters reach addresses of a kind.
    package func reaches(_ kind: Address.Kind) -> Bool { letterKinds.contains(kind) }

    /// Counts a sign-in through a provider towards a network address, until the person comes back.
    ///
    /// - Returns: the seconds to wait; nil for none.
    /// - Throws: what the catalog reports.
    package func awayWait(client: NetworkOrigin?, now: Milliseconds) throws -> Int? {
        try client.flatMap {
            try limits.take($0.counted(settings.clientPolicy, as: { .client($0) }), now: now)
        }
    }

    /// Notes that the person came back from a provider.
    ///
    /// - Throws: what the catalog reports.
    package func cameBack(client: NetworkOrigin?) throws {
        try limits.giveBack((client?.blocks ?? []).map { .client($0) })
    }

    /// The host's name in an address.
    package static func host(of base: String) -> String {
        WebURL(base)?.host ?? base
    }
}
