import Accounts

/// Every word that the pages and letters say, in one place.
enum Texts {
    static let language = "en"

    // MARK: - What every page may say

    static let notHere = "There is nothing here"
    static let tooMuch = "That was too much at once"
    static let busy = "The server is busy; try again in a moment"
    static let failure = "Something went wrong; try again"
    static let formExpired = "This page was open for too long"
    static let openAgain = "Open it again"

    // MARK: - Signing in

    static let signIn = "Sign in"
    static let address = "E-mail address"
    static let password = "Password"
    static let keepSignedIn = "Keep me signed in on this device"
    static let forgotten = "I forgot my password"
    static let newHere = "Make an account"
    static let wrong = "Address and password do not go together."
    static let unavailable = "The server cannot compare passwords now; try again in a moment."
    static let ticketEnded = "This sign-in has ended"
    static let ticketEndedHint = "Go back to the app and sign in from there again."
    static let wayRefused = "This app may not sign you in this way"
    static let wayRefusedHint =
        "It asks to be told at an address that is not registered with it. Tell whoever makes it."
    static let proceed = "Continue"
    static let useAnother = "Use another account"
    static let cancel = "Cancel"
    static let done = "You are signed in"
    static let cancelled = "You are not signed in"
    static let goBack = "Go back to the app. You can close this window."
    static let needsScript =
        "Your browser runs no scripts here, which the app needs to be told that you are signed in."

    static func wait(_ seconds: Int) -> String {
        let time =
            seconds < 120
            ? (seconds == 1 ? "a second" : "\(seconds) seconds")
            : "\((seconds + 59) / 60) minutes"
        return "Too many attempts. Try again in \(time)."
    }

    static func asks(_ app: String, _ origin: String?) -> Markup {
        guard let origin else { return "The app <strong>\(app)</strong> asks you to sign in." }
        return "The app <strong>\(app)</strong> at <code>\(origin)</code> asks you to sign in."
    }

    static func signedInAs(_ name: String, _ address: String) -> Markup {
        name.isEmpty || address.isEmpty
            ? "You are <strong>\(name)\(address)</strong>."
            : "You are <strong>\(name)</strong> (\(address))."
    }

    static func consent(_ app: String) -> Markup {
        """
        <p>If you continue, it may:</p>
        <ul>
        <li>see your name</li>
        <li>read and change what you keep in <strong>\(app)</strong>, and what others share with you there</li>
        </ul>
        <p class="quiet">It sees neither your password nor your address, and nothing of other apps.</p>
        """
    }

    // MARK: - Passwords and new accounts

    static let resetTitle = "Choose a new password"
    static let resetAsk = "Send me a link"
    static let resetSent = "Look into your mail"
    static let resetSentHint = """
        If the address belongs to an account, a link is on its way to it. It is good for an hour.
        """
    static let noLetters =
        "This server sends no mail. Whoever keeps it can set a new password for you."
    static let linkEnded = "This link has been used, or its time is over"
    static let newPassword = "New password"
    static let passwordRule = "At least 8 characters."
    static let passwordRefused = "A password has 8 to 1024 characters."
    static let savePassword = "Save the password"
    static let welcome = "Make your account"
    static let givenName = "Given name"
    static let familyName = "Family name"
    static let makeAccount = "Make the account"
    static let nameRefused = "A name has at most 128 characters, and no line ends."
    static let addressRefused = "That is not an e-mail address."
    static let addressTaken = "That address belongs to an account already."
    static let signUpSentHint = "A link is on its way to the address you gave. Open it to go on."
    static let signUpClosed = "This server makes accounts by invitation only"

    // MARK: - The account

    static let account = "Your account"
    static let signOut = "Sign out"
    static let signOutEverywhere = "Sign out everywhere else"
    static let browsers = "Browsers that are signed in"
    static let thisBrowser = "this browser"
    static let unknownDevice = "A browser"
    static let apps = "Apps that act for you"
    static let noApps = "None."
    static let revoke = "Sign it out"
    static let changePassword = "Change the password"
    static let presentPassword = "Present password"
    static let changed = "The password is changed, and everything else is signed out."
    static let addresses = "Addresses"
    static let addAddress = "Add an address"
    static let sendCode = "Send a code"
    static let code = "Code from the letter"
    static let proveAddress = "This address is mine"
    static let codeSent = "A code is on its way to the address. It is good for 15 minutes."
    static let codeWrong = "That is not the code, or its time is over."
    static let addressProved = "The address is yours."
    static let findable = "Others who know an address of mine may find me in apps that we both use"
    static let save = "Save"
    static let saved = "Saved."
    static let lastUsed = "last used"

    // MARK: - Letters

    private static let unasked = "If you did not ask for this, you need not do anything."

    static func letter(_ contents: Letters.Contents, base: String) -> LetterText {
        switch contents {
        case .reset(let secret):
            LetterText(
                subject: "A new password",
                body: """
                    Somebody asked for a new password for your account. Choose one here, within an hour:

                    \(base)/sign-in/reset/\(secret)

                    \(unasked)
                    """)
        case .invitation(let secret):
            LetterText(
                subject: "Your invitation",
                body: """
                    You are invited to make an account. The link is good for a week:

                    \(base)/sign-in/welcome/\(secret)

                    \(unasked)
                    """)
        case .accountExists(let place):
            LetterText(
                subject: "You have an account",
                body: """
                    Somebody asked to make an account for this address. There is one already:

                    \(base)\(SharePlace(place)?.path ?? "/sign-in")

                    \(unasked)
                    """)
        case .code(let code):
            LetterText(
                subject: "Your code",
                body: """
                    To show that this address is yours, type this code where you asked for it:

                    \(code.prefix(4)) \(code.suffix(4))

                    It is good for 15 minutes. \(unasked)
                    """)
        case .device(let device):
            LetterText(
                subject: "A new browser",
                body: """
                    Your account was used to sign in at a browser that was not known before\
                    \(device.isEmpty ? "" : ": \(device)").

                    If that was not you, choose a new password, which signs everything else out:

                    \(base)/account
                    """)
        }
    }
}
