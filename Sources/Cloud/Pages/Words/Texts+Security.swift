// What pages say of how somebody shows who they are.
extension Texts {
    static let security = "How you sign in"
    static let tookTooLong = "That took too long. Sign in again."

    // MARK: - Showing it again

    static let proveTitle = "Is it you?"
    static let proveHint = "What comes next cannot be undone, or decides who may sign in."
    static let proveBySigningIn =
        "Sign out and in again, to show that it is you. Then you can go on for ten minutes."
    static let proofWrong = "That does not fit your account."

    // MARK: - Codes of an app

    static let factorTitle = "Codes of an app"
    static let factorIsOff = "Your password alone lets you in."
    static let factorSetUp = "Ask for a code of an app, too"
    static let factorChange = "Change that"
    static let factorCode = "Code of your app"
    static let factorCodeHint = "Six digits, or one of your recovery codes."
    static let factorCodeWrong = "That code is not good, or has been used."
    static let factorHint =
        "Let your app read the picture, or type the secret into it. Then type the code that it shows."
    static let factorPicture = "The secret, as a picture for an app"
    static let factorSecret = "The secret:"
    static let factorFirstCode = "Code that the app shows"
    static let factorSet = "Ask for codes from now on"
    static let factorRemove = "Ask for no codes any more"
    static let factorDone = "Codes are asked for now"
    static let recoveryHint =
        "Keep these recovery codes. Each lets you in once without the app. You will not see them again."

    static func factorIsOn(_ left: Int) -> String {
        "A code of your app is asked for after your password. "
            + (left == 1 ? "One recovery code is left." : "\(left) recovery codes are left.")
    }

    // MARK: - One's data

    static let yourData = "Your data"
    static let exportTitle = "Take your data along"
    static let exportHint =
        "You get a ZIP file with your account, your records in all apps, and their files."
    static let exportGet = "Get the file"
    static let deleteTitle = "Delete the account"
    static let publicRecords = "What you have published in apps"
    static let publicKeep = "Keep it"
    static let publicAnonymous = "Keep it, but let nobody tell that it is by one person"
    static let publicDelete = "Delete it"
    static let deleteDo = "Delete my account"
    static let deleteAsked = "Your account will be deleted"

    static func deleteHint(_ day: String) -> String {
        "Your account goes on \(day) with all your private data in all apps, for ever. "
            + "Until then nobody can use it, and signing in takes the deletion back."
    }

    static func deleteAskedHint(_ day: String) -> String {
        "It goes on \(day). If you sign in before that day, it stays."
    }

    // MARK: - Passkeys

    static let passkeysTitle = "Passkeys"
    static let passkeysHint =
        "A passkey of this device, or of another one of yours, lets you in without your password."
    static let passkeyNone = "You have none yet."
    static let passkeyAdd = "Make a passkey"
    static let passkeyRemove = "Remove"
    static let passkeySignIn = "Sign in with a passkey"
    static let passkeyFailed = "That passkey was not good here. Try again."
    static let passkeyTaken = "That passkey is in use already."
    static let passkeyLast = "Without it nothing would let you in."
    static let passkeyNeedsScript = "Your browser runs no scripts here, which passkeys need."

    // MARK: - Other servers

    static let identitiesTitle = "Sign in by another service"
    static let identitiesHint = "Whoever may sign in there as you may sign in here as you."
    static let unlink = "Let it let me in no more"
    static let identityTaken = "Somebody signs in to another account here by that."
    static let goingThere = "Going on"
    static let wentOnThere = "Go on here when you have signed in there"
    static let goBackToWindow = "Close this window, and go on in the one that you came from."
    static let providerSilent = "That service does not answer now. Try again in a moment."
    static let providerWrong = "What that service says of you cannot be believed."

    static func signInWith(_ name: String) -> String { "Sign in with \(name)" }

    static func linkWith(_ name: String) -> String { "Let \(name) let me in" }

    static func unknownThere(_ name: String) -> String {
        "Nobody here is known by that account of \(name). Sign in another way first; "
            + "then your account page lets \(name) let you in."
    }
}
