import CloudModel
import Cryptography
import Storage

/// Who may make an account by themselves.
package enum SignUpMode: String, Sendable, CaseIterable {
    case off
    /// Whoever has a link from the operator.
    case invitation
    /// Whoever has an address to which a link can be sent.
    case open
}

/// All that the pages for people need of accounts, made once for each server.
package struct Reception: Sendable {
    package let catalog: any CatalogStorage
    package let sessions: BrowserSessions
    package let signIn: PasswordSignIn
    package let passwords: Passwords
    package let devices: KnownDevices
    package let letters: Letters
    package let letterAnswers: LetterAnswers
    package let handOver: HandOver
    package let settings: AccountsSettings
    package let signUp: SignUpMode
    /// Whether letters can be sent at all.
    package let hasLetters: Bool
    /// Where browsers reach the server, without a slash at the end.
    package let publicBaseURL: String
    /// Signs the pages' forms.
    package let formKey: [UInt8]
    package let random: RandomSource

    /// - Throws: what the catalog reports when its secrets are read.
    package init(
        catalog: any CatalogStorage, random: RandomSource = .system,
        settings: AccountsSettings = AccountsSettings(), signUp: SignUpMode = .invitation,
        hasLetters: Bool, publicBaseURL: String
    ) throws {
        let limits = GuessLimits(random: random)
        self.catalog = catalog
        self.random = random
        self.settings = settings
        self.signUp = signUp
        self.hasLetters = hasLetters
        self.publicBaseURL = publicBaseURL
        sessions = BrowserSessions(catalog: catalog, random: random, settings: settings)
        devices = try KnownDevices(catalog: catalog, random: random)
        signIn = PasswordSignIn(
            catalog: catalog, limits: limits, devices: devices, random: random, settings: settings)
        passwords = Passwords(catalog: catalog, random: random, costs: settings.passwordCosts)
        letters = Letters(catalog: catalog, limits: limits, random: random, settings: settings)
        letterAnswers = LetterAnswers(catalog: catalog, passwords: passwords, random: random)
        handOver = try HandOver(
            catalog: catalog,
            tokens: WebTokens(catalog: catalog, random: random, settings: settings),
            random: random, settings: settings)
        formKey = try catalog.secret("page-forms", orStore: random.bytes(32))
    }
}
