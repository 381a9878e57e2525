/// Every text of the pages and letters, by the name that a language's file knows it by.
///
/// The raw value is the text in English. Names in braces stand for what is put in: others' texts, numbers, days.
/// No text holds markup: what is put in is shown apart where that helps.
enum Phrase: String, CaseIterable, Sendable {
    // MARK: - What every page may say

    case notHere = "There is nothing here"
    case tooMuch = "That was too much at once"
    case busy = "The server is busy; try again in a moment"
    case failure = "Something went wrong; try again"
    case formExpired = "This page was open for too long"
    case openAgain = "Open it again"

    // MARK: - Signing in

    case signIn = "Sign in"
    case address = "E-mail address"
    case phone = "Phone number"
    case addressOrPhone = "E-mail address or phone number"
    case phoneHint = "A phone number begins with + and the country's code."
    case password = "Password"
    case keepSignedIn = "Keep me signed in on this device"
    case forgotten = "I forgot my password"
    case newHere = "Make an account"
    case wrong = "Address and password do not go together."
    case unavailable = "The server cannot compare passwords now; try again in a moment."
    case ticketEnded = "This sign-in has ended"
    case ticketEndedHint = "Go back to the app and sign in from there again."
    case wayRefused = "This app may not sign you in this way"
    case wayRefusedHint =
        "It asks to be told at an address that is not registered with it. Tell whoever makes it."
    case proceed = "Continue"
    case proceedTo = "Continue to {app}"
    case consentTitle = "Allow {app} to use your account?"
    case allow = "Allow"
    case useAnother = "Use another account"
    case cancel = "Cancel"
    case done = "You are signed in"
    case cancelled = "You are not signed in"
    case goBack = "Go back to the app. You can close this window."
    case needsScript =
        "Your browser runs no scripts here, which the app needs to be told that you are signed in."
    case waitSecond = "Too many attempts. Try again in a second."
    case waitSeconds = "Too many attempts. Try again in {count} seconds."
    case waitMinutes = "Too many attempts. Try again in {count} minutes."
    case asks = "The app {app} asks you to sign in."
    case asksAt = "The app {app} at {origin} asks you to sign in."
    case youAre = "You are {name}."
    case youAreAt = "You are {name} ({address})."
    case consent = "If you allow it, it may:"
    case consentName = "see your name"
    case consentData =
        "read and change what you keep in {app}, and what others share with you there"
    case consentRest = "It sees neither your password nor your address, and nothing of other apps."

    // MARK: - Passwords and new accounts

    case resetTitle = "Choose a new password"
    case resetAsk = "Send me a link"
    case resetSent = "Look into your mail"
    case messageSent = "Look at your messages"
    case resetSentHint =
        "If the address belongs to an account, a link is on its way to it. It is good for an hour."
    case noLetters = "This server sends no mail. Whoever keeps it can set a new password for you."
    case linkEnded = "This link has been used, or its time is over"
    case newLink = "Get a new link"
    case newLinkByInviter = "Ask whoever invited you for a new link."
    case newPassword = "New password"
    case passwordRule = "At least 8 characters."
    case passwordRefused = "A password has 8 to 1024 characters."
    case savePassword = "Save the password"
    case welcome = "Make your account"
    case givenName = "Given name"
    case familyName = "Family name"
    case makeAccount = "Make the account"
    case nameRefused = "A name has at most 128 characters, and no line ends."
    case addressRefused = "That is not an e-mail address."
    case addressOrPhoneRefused =
        "That is neither an e-mail address nor a phone number with + and the country's code."
    case addressTaken = "That address belongs to an account already."
    case signUpSentHint = "A link is on its way to the address you gave. Open it to go on."
    case signUpClosed = "This server makes accounts by invitation only"

    // MARK: - The account

    case account = "Your account"
    case signOut = "Sign out"
    case signOutEverywhere = "Sign out everywhere else"
    case browsers = "Browsers that are signed in"
    case thisBrowser = "this browser"
    case unknownDevice = "A browser"
    case apps = "Apps that act for you"
    case noApps = "None."
    case revoke = "Sign it out"
    case changePassword = "Change the password"
    case presentPassword = "Present password"
    case presentWrong = "That is not your present password."
    case changed = "The password is changed, and everything else is signed out."
    case addresses = "Addresses"
    case addAddress = "Add an address"
    case sendCode = "Send a code"
    case sendCodeAgain = "Send another code"
    case code = "Code from the letter"
    case codeOfMessage = "Code from the message"
    case proveAddress = "This address is mine"
    case codeSent = "A code is on its way to the address. It is good for 15 minutes."
    case codeWrong = "That is not the code, or its time is over."
    case addressProved = "The address is yours."
    case beingFound = "Being found by others"
    case findable = "Others who know an address of mine may find me in apps that we both use"
    case save = "Save"
    case saved = "Saved."
    case lastUsed = "last used"
    case signedInOn = "signed in"
    case inDevelopment = "{app} (development)"

    // MARK: - Letters

    case letterUnasked = "If you did not ask for this, you need not do anything."
    case letterReset = "A new password"
    case letterResetText =
        "Somebody asked for a new password for your account. Choose one here, within an hour:"
    case letterInvitation = "Your invitation"
    case letterInvitationText = "You are invited to make an account. The link is good for a week:"
    case letterExists = "You have an account"
    case letterExistsText =
        "Somebody asked to make an account for this address. There is one already:"
    case letterCode = "Your code"
    case letterCodeText =
        "To show that this address is yours, type this code where you asked for it:"
    case letterCodeGood = "It is good for 15 minutes."
    case letterDevice = "A new browser"
    case letterDeviceText =
        "Your account was used to sign in at a browser that was not known before."
    case letterDeviceNamed =
        "Your account was used to sign in at a browser that was not known before: {device}."
    case letterDeviceHint =
        "If that was not you, choose a new password, which signs everything else out:"

    // MARK: - Text messages

    case messageFrom = "{service}: {text}"
    case messageReset = "Choose a new password within an hour: {link}"
    case messageInvitation = "You are invited. Make an account within a week: {link}"
    case messageExists = "You have an account for this number already: {link}"
    case messageCode = "{code} is your code. It is good for 15 minutes."

    // MARK: - How somebody shows who they are

    case security = "How you sign in"
    case tookTooLong = "That took too long. Sign in again."

    // MARK: - Showing it again

    case proveTitle = "Is it you?"
    case proveHint = "What comes next cannot be undone, or decides who may sign in."
    case proveBySigningIn =
        "Sign out and in again, to show that it is you. Then you can go on for ten minutes."
    case proofWrong = "That does not fit your account."

    // MARK: - Codes of an app

    case factorTitle = "Codes of an app"
    case factorIsOff = "Your password alone lets you in."
    case factorSetUp = "Ask for a code of an app, too"
    case factorChange = "Change that"
    case factorCode = "Code of your app"
    case factorCodeHint = "Six digits, or one of your recovery codes."
    case factorCodeWrong = "That code is not good, or has been used."
    case factorHint = """
        Let your app read the picture, or type the secret into it. Then type the code that it \
        shows.
        """
    case factorPicture = "The secret, as a picture for an app"
    case factorSecret = "The secret:"
    case factorFirstCode = "Code that the app shows"
    case factorSet = "Ask for codes from now on"
    case factorRemove = "Ask for no codes any more"
    case factorDone = "Codes are asked for now"
    case recoveryHint = """
        Keep these recovery codes. Each lets you in once without the app. You will not see them \
        again.
        """
    case copyCodes = "Copy"
    case copied = "Copied."
    case downloadCodes = "Download"
    case factorIsOnLast =
        "A code of your app is asked for after your password. One recovery code is left."
    case factorIsOn =
        "A code of your app is asked for after your password. {count} recovery codes are left."

    // MARK: - One's data

    case yourData = "Your data"
    case exportTitle = "Take your data along"
    case exportHint =
        "You get a ZIP file with your account, your records in all apps, and their files."
    case exportGet = "Get the file"
    case deleteTitle = "Delete the account"
    case publicRecords = "What you have published in apps"
    case publicKeep = "Keep it"
    case publicAnonymous = "Keep it, but let nobody tell that it is by one person"
    case publicDelete = "Delete it"
    case deleteDo = "Delete my account"
    case deleteNot = "Keep my account"
    case deleteAsked = "Your account will be deleted"
    case deleteHint = """
        Your account goes on {day} with all your private data in all apps, for ever. Until then \
        nobody can use it, and signing in takes the deletion back.
        """
    case deleteAskedHint = "It goes on {day}. If you sign in before that day, it stays."

    // MARK: - Passkeys

    case passkeysTitle = "Passkeys"
    case passkeysHint =
        "A passkey of this device, or of another one of yours, lets you in without your password."
    case passkeyNone = "You have none yet."
    case passkeyAdd = "Make a passkey"
    case passkeyRemove = "Remove"
    case passkeySignIn = "Sign in with a passkey"
    case passkeyFailed = "That passkey was not good here. Try again."
    case passkeyTaken = "That passkey is in use already."
    case passkeyLast = "Without it nothing would let you in."
    case passkeyNeedsScript = "Your browser runs no scripts here, which passkeys need."

    // MARK: - Other servers

    case identitiesTitle = "Sign in by another service"
    case identitiesHint = "Whoever may sign in there as you may sign in here as you."
    case unlink = "Let it let me in no more"
    case identityTaken = "Somebody signs in to another account here by that."
    case goingThere = "Going on"
    case wentOnThere = "Go on here when you have signed in there"
    case goBackToWindow = "Close this window, and go on in the one that you came from."
    case providerSilent = "That service does not answer now. Try again in a moment."
    case providerWrong = "What that service says of you cannot be believed."
    case signInWith = "Sign in with {provider}"
    case linkWith = "Let {provider} let me in"
    case unknownThere = """
        Nobody here is known by that account of {provider}. Sign in another way first; then your \
        account page lets {provider} let you in.
        """

    // MARK: - Shares

    case sharedLink = "A shared link"
    case signInToOpen = "Sign in to open it."
    case untitled = "Something without a title"
    case nothingShared = """
        There is nothing for you behind this link. It may be for another address of yours, or \
        shared no more.
        """
    case join = "Join"
    case rejoin = "Join again"
    case openIt = "Open it"
    case shareFull = "As many take part in it as can. Tell whoever shares it."
    case handOn = "The link and its QR code"
    case qrCode = "QR code of the link"
    case otherAddress = "Invited by another address?"
    case otherAddressHint = """
        Show that the address is yours: it is added to your account, and every invitation for it \
        is yours.
        """
    case otherAddressByOperator =
        "This server sends no mail. Whoever keeps it can add an address to your account."
    case invitedAddress = "The address you were invited by"
    case askTitle = "Not invited?"
    case askHint = "Whoever shares it is told your name, and decides."
    case ask = "Ask to take part"
    case asked =
        "If there is something behind this link that takes requests, whoever shares it is told."
    case askedTooOften = "You have asked for much today. Try again tomorrow."
    case shareOwn = "You share this by {app}."
    case shareJoinedRead = "{owner} shares this with you by {app}. You may see it."
    case shareJoinedWrite = "{owner} shares this with you by {app}. You may see and change it."
    case shareLeftRead = """
        {owner} shared this with you by {app}, and you have left it. If you join again, you may \
        see it.
        """
    case shareLeftWrite = """
        {owner} shared this with you by {app}, and you have left it. If you join again, you may \
        see and change it.
        """
    case shareOpenRead = """
        {owner} shares this by {app}. If you join, you may see it, and those who take part may \
        see your name.
        """
    case shareOpenWrite = """
        {owner} shares this by {app}. If you join, you may see and change it, and those who take \
        part may see your name.
        """
    case somebody = "Somebody"
    case openInApp = """
        It is in the app {app} now: open that, signed in with this account. If you do not have \
        it, ask whoever shares this where to get it.
        """

    case sharing = "Sharing"
    case sharedByYou = "Shared by you"
    case sharedWithYou = "Shared with you"
    case shareWithOne = "In {app}, with 1 other person"
    case shareWithMany = "In {app}, with {count} other people"
    case shareWithLink = "In {app}, with everybody who has the link"
    case shareFrom = "In {app}, from {owner}"

    // MARK: - What apps keep

    case kept = "What your apps keep"
    case recordsOne = "1 record, {bytes}"
    case records = "{count} records, {bytes}"
    case bytes = "{count} bytes"
    case kilobytes = "{count} kB"
    case megabytes = "{count} MB"
    case gigabytes = "{count} GB"
    case terabytes = "{count} TB"
}
