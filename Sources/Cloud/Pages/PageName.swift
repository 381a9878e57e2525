/// The name of a page in the log, never a piece of an address.
enum PageName: String, Sendable, CaseIterable {
    case none
    case style
    case script
    case icon
    case signIn = "sign-in"
    case ticket = "sign-in/ticket"
    case provider = "sign-in/with"
    case providerBack = "sign-in/back"
    case signInDone = "sign-in/done"
    case trade = "sign-in/token"
    case forgotten = "sign-in/forgotten"
    case newAccount = "sign-in/new"
    case signOut = "sign-in/out"
    case reset = "sign-in/reset"
    case welcome = "sign-in/welcome"
    case firstOperator = "sign-in/first"
    case account
    case prove = "account/prove"
    case secondFactor = "account/second-factor"
    case identities = "account/identities"
    case passkeys = "account/passkeys"
    case export = "account/export"
    case delete = "account/delete"
    case share
    case shareSheet = "share-sheet"
    case shareSheetTexts = "share-sheet/texts"

    /// Whether it is shown only to people who have signed in recently.
    var isShownByProof: Bool {
        switch self {
        case .secondFactor, .identities, .passkeys, .export, .delete: true
        default: false
        }
    }
}
