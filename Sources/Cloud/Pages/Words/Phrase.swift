/// Every text of the pages and letters, by the name that a language's file knows it by.
///
/// The raw value is the text in English. Names in braces stand for what is put in: others' texts, numbers, days.
/// No text holds markup: what is put in is shown apart where that helps.
enum Phrase: String, CaseIterable, Sendable {
    // MARK: - What every page may say

    case notHere = "Page not found"
    case tooMuch = "The form is too large"
    case busy = "The server is busy. Please try again in a moment."
    case failure = "Something went wrong. Please try again."
    case formExpired = "This page has expired"
    case openAgain = "Reload the page"

    // MARK: - Signing in

    case signIn = "Sign in"
    case address = "E-mail address"
    case phone = "Phone number"
    case addressOrPhone = "E-mail address or phone number"
    case phoneHint = "Enter a phone number with its country code, such as +1 555 010 0199."
    case password = "Password"
    case keepSignedIn = "Stay signed in"
    case forgotten = "Forgot password?"
    case resetPassword = "Reset your password"
    case newHere = "Create account"
    case wrong = "Incorrect e-mail or password."
    case wrongOrPhone = "Incorrect e-mail, phone number or password."
    case unavailable = "Passwords cannot be checked right now. Please try again in a moment."
    case ticketEnded = "This sign-in link has expired"
    case ticketEndedHint = "Go back to the app and sign in again."
    case wayRefused = "This app's sign-in request is invalid"
    case wayRefusedHint = "This is a mistake in the app. Please tell its developer:"
    // What was missing in an app's request, for its developer (docs/protocol/authentication.md).
    case signInNoOrigin = """
        The request that was answered with this address had no Origin, and its API token has no \
        callback URL.
        """
    case signInNoCallback =
        "The address has a callback or a code_challenge, but its API token has no callback URL."
    case signInOtherCallback = "The callback is not the one that is registered with the API token."
    case signInNoChallenge =
        "A callback at another port needs code_challenge and code_challenge_method=S256."
    case signInBadChallenge =
        "The code_challenge is not a SHA-256 in base64url, or code_challenge_method is not S256."
    case signInLongState = "The state is longer than 1024 bytes."
    case signInDocumented =
        "The documentation of Lenticular says how apps sign people in: {page}"
    case proceed = "Continue"
    case proceedTo = "Continue to {app}"
    case consentTitle = "Allow {app} to access your account?"
    case allow = "Allow"
    case useAnother = "Use another account"
    case cancel = "Cancel"
    case done = "You are signed in"
    case cancelled = "Sign-in cancelled"
    case goBack = "You can close this window and go back to the app."
    case needsScript = "JavaScript is turned off. The app needs it to complete the sign-in."
    case waitSecond = "Too many attempts. Try again in 1 second."
    case waitSeconds = "Too many attempts. Try again in {count} seconds."
    case waitMinutes = "Too many attempts. Try again in {count} minutes."
    case asks = "{app} wants to access your account."
    case asksAt = "{app} at {origin} wants to access your account."
    case youAre = "Signed in as {name}."
    case youAreAt = "Signed in as {name} ({address})."
    case consent = "The app will be able to:"
    case consentName = "See your name"
    case consentData = "View and change your data in {app}, and what others share with you there"
    case consentRest =
        "It cannot see your password, your e-mail address, or your data in other apps."

    // MARK: - Operators

    case firstOperator = "Create the operator's account"
    case firstOperatorHint =
        "This account can change everything on this server. Next, set up a second factor."
    case firstOperatorEnded =
        "The link has expired, or there is an operator already. On the server: lenticular operator create"
    case operatorLooks = "Access by operators"
    case operatorLooksHint = "People who run this server looked at your data:"

    // MARK: - Passwords and new accounts

    case resetTitle = "Choose a new password"
    case resetAsk = "Send link"
    case resetSent = "Check your e-mail"
    case messageSent = "Check your messages"
    case resetSentHint =
        "If an account with this address exists, a link has been sent to it. It expires in 1 hour."
    case noLetters =
        "This server does not send e-mail. Ask its administrator to reset your password."
    case linkEnded = "This link is invalid or has expired"
    case newLink = "Request a new link"
    case newLinkByInviter = "Ask the person who invited you for a new link."
    case newPassword = "New password"
    case passwordRule = "At least 8 characters."
    case passwordRefused = "Passwords must have 8 to 1024 characters."
    case savePassword = "Save password"
    case welcome = "Create your account"
    case givenName = "First name"
    case familyName = "Last name"
    case nameRefused = "Names can have up to 128 characters and no line breaks."
    case addressRefused = "Enter a valid e-mail address."
    case addressOrPhoneRefused =
        "Enter a valid e-mail address, or a phone number with its country code."
    case addressTaken = "This address is already in use."
    case signUpSentHint = "A link has been sent to your address. Open it to continue."
    case signUpClosed = "Accounts are by invitation only"

    // MARK: - The account

    case account = "Your account"
    case signOut = "Sign out"
    case signOutEverywhere = "Sign out of all other devices"
    case browsers = "Devices"
    case thisBrowser = "this device"
    case unknownDevice = "Unknown device"
    case apps = "Connected apps"
    case noApps = "No connected apps."
    case disconnect = "Remove access"
    case changePassword = "Change password"
    case presentPassword = "Current password"
    case presentWrong = "Incorrect password."
    case changed = "Password changed. All other devices and apps have been signed out."
    case addresses = "Contact info"
    case addAddress = "Add an address"
    case sendCode = "Send code"
    case sendCodeAgain = "Resend code"
    case code = "Verification code"
    case proveAddress = "Verify"
    case codeSent = "A verification code has been sent. It expires in 15 minutes."
    case codeWrong = "This code is incorrect or has expired."
    case addressProved = "Address verified."
    case beingFound = "Privacy"
    case findable =
        "People who know my e-mail address or phone number can find me in apps that we both use"
    case save = "Save"
    case saved = "Saved."
    case lastUsed = "last used"
    case signedInOn = "signed in"
    case inDevelopment = "{app} (development)"

    // MARK: - Letters

    case letterUnasked = "If you did not request this, you can ignore this message."
    case letterResetText = "You can choose a new password with this link. It expires in 1 hour:"
    case letterInvitation = "Your invitation"
    case letterInvitationText = "You are invited to create an account. This link expires in 7 days:"
    case letterExists = "You already have an account"
    case letterExistsText =
        "Someone tried to create an account with this address. You already have one:"
    case letterCode = "Your verification code"
    case letterCodeText = "Enter this code to verify your address:"
    case letterCodeGood = "It expires in 15 minutes."
    case letterDevice = "New sign-in to your account"
    case letterDeviceText = "Your account was used to sign in on a new device."
    case letterDeviceNamed = "Your account was used to sign in on a new device: {device}."
    case letterDeviceHint =
        "If this was not you, change your password, which signs out all other devices and apps:"

    // MARK: - Text messages

    case messageFrom = "{service}: {text}"
    case messageReset = "Choose a new password within 1 hour: {link}"
    case messageInvitation = "You are invited. Create your account within 7 days: {link}"
    case messageExists = "You already have an account with this number: {link}"
    case messageCode = "{code} is your verification code. It expires in 15 minutes."

    // MARK: - Security

    case security = "Security"
    case tookTooLong = "Your sign-in has timed out. Please sign in again."

    // MARK: - Before sensitive changes

    case proveTitle = "Verify it's you"
    case proveHint = "For your security, enter your password again."
    case proveBySigningIn =
        "Sign out and sign in again to verify it's you. You can then make changes for 10 minutes."
    case proofWrong = "Incorrect password or code."

    // MARK: - Two-factor authentication

    case factorTitle = "Two-factor authentication"
    case factorIsOff = "Two-factor authentication is off."
    case factorSetUp = "Set up two-factor authentication"
    case factorChange = "Manage two-factor authentication"
    case factorCode = "Authentication code"
    case factorCodeHint = "Enter the 6-digit code from your authenticator app, or a recovery code."
    case factorCodeWrong = "This code is incorrect or has already been used."
    case factorHint = """
        Scan the QR code with your authenticator app, or enter the setup key. Then enter the \
        code from the app.
        """
    case factorPicture = "QR code for your authenticator app"
    case factorSecret = "Setup key:"
    case factorFirstCode = "Code from the app"
    case factorSet = "Turn on"
    case factorRemove = "Turn off two-factor authentication"
    case factorDone = "Two-factor authentication is on"
    case recoveryHint = """
        Save these recovery codes in a safe place. Each works once if you lose your \
        authenticator app. They will not be shown again.
        """
    case copyCodes = "Copy"
    case copied = "Copied."
    case downloadCodes = "Download"
    case factorIsOnLast = "Two-factor authentication is on. 1 recovery code is left."
    case factorIsOn = "Two-factor authentication is on. {count} recovery codes are left."

    // MARK: - Data

    case yourData = "Your data"
    case exportTitle = "Download your data"
    case exportHint =
        "The ZIP file contains your account, your records in all apps, and their files."
    case exportGet = "Download ZIP file"
    case deleteTitle = "Delete account"
    case publicRecords = "Your public content in apps"
    case publicKeep = "Keep it"
    case publicAnonymous = "Keep it anonymously"
    case publicDelete = "Delete it"
    case deleteDo = "Delete my account"
    case deleteNot = "Keep my account"
    case deleteAsked = "Your account is scheduled for deletion"
    case deleteHint = """
        Your account and your private data in all apps will be permanently deleted on {day}. \
        Until then, nobody can use the account. Signing in cancels the deletion.
        """
    case deleteAskedHint = "It will be deleted on {day}. To keep it, sign in before that day."

    // MARK: - Passkeys

    case passkeysTitle = "Passkeys"
    case passkeysHint = """
        A passkey lets you sign in without your password: with your fingerprint, face or screen \
        lock.
        """
    case passkeyNone = "No passkeys yet."
    case passkeyAdd = "Create a passkey"
    case passkeyRemove = "Remove"
    case passkeySignIn = "Sign in with a passkey"
    case passkeyFailed = "This passkey did not work. Please try again."
    case passkeyTaken = "This passkey is already in use."
    case passkeyLast = "You cannot remove your only way to sign in."
    case passkeyNeedsScript = "JavaScript is turned off. Passkeys need it."

    // MARK: - Linked accounts

    case identitiesTitle = "Linked accounts"
    case identitiesHint = "You can sign in here with an account of another service."
    case unlink = "Unlink"
    case identityTaken = "This account is already linked to another account here."
    case goingThere = "Redirecting"
    case wentOnThere = "Continue after signing in in the other window"
    case goBackToWindow = "Close this window and continue in the one before."
    case providerSilent = "The sign-in service is not responding. Please try again in a moment."
    case providerWrong = "The sign-in service sent an invalid response."
    case signInWith = "Sign in with {provider}"
    case linkWith = "Link {provider} account"
    case unknownThere = """
        No account here is linked to this {provider} account. Sign in another way first, then \
        link {provider} on your account page.
        """

    // MARK: - Shares

    case sharedLink = "Shared item"
    case signInToOpen = "Sign in to open it."
    case untitled = "Untitled"
    case nothingShared = """
        This item is not available. It may be shared with another address of yours, or no longer \
        shared.
        """
    case join = "Join"
    case rejoin = "Join again"
    case openIt = "Open"
    case shareFull =
        "This item already has the maximum number of participants. Please tell its owner."
    case handOn = "Link and QR code"
    case qrCode = "QR code of the link"
    case otherAddress = "Invited at another address?"
    case otherAddressHint = "Verify the address to add it to your account and see its invitations."
    case otherAddressByOperator = """
        This server does not send e-mail. Ask its administrator to add the address to your \
        account.
        """
    case invitedAddress = "Address of the invitation"
    case askTitle = "Not invited?"
    case askHint = "The owner will see your name and decide."
    case ask = "Request access"
    case asked = "If this item accepts requests, its owner has been notified."
    case askedTooOften = "You have sent too many requests today. Try again tomorrow."
    case shareOwn = "You share this in {app}."
    case shareJoinedRead = "{owner} shares this with you in {app}. You can view it."
    case shareJoinedWrite = "{owner} shares this with you in {app}. You can view and edit it."
    case shareLeftRead =
        "{owner} shared this with you in {app}, and you left. If you join again, you can view it."
    case shareLeftWrite = """
        {owner} shared this with you in {app}, and you left. If you join again, you can view and \
        edit it.
        """
    case shareOpenRead = """
        {owner} shares this in {app}. If you join, you can view it, and other participants can \
        see your name.
        """
    case shareOpenWrite = """
        {owner} shares this in {app}. If you join, you can view and edit it, and other \
        participants can see your name.
        """
    case somebody = "Someone"
    case openInApp = """
        Open the app {app} and sign in with this account. If you do not have the app, ask the \
        owner where to get it.
        """

    case sharing = "Sharing"
    case sharedByYou = "Shared by you"
    case sharedWithYou = "Shared with you"
    case shareWithOne = "In {app}, with 1 other person"
    case shareWithMany = "In {app}, with {count} other people"
    case shareWithLink = "In {app}, with anyone who has the link"
    case shareFrom = "In {app}, from {owner}"

    // MARK: - The share sheet, as the elements of the JavaScript client say it

    case sheetAccess = "Who has access"
    case sheetAnyone = "Anyone with the link"
    case sheetAnyoneMay = "People with the link"
    case sheetBlock = "Block {name}"
    case sheetBlocked = "Blocked people"
    case sheetByLink = "Joined by the link"
    case sheetClose = "Make it private?"
    case sheetCloseDo = "Make private"
    case sheetCloseHint = "People who joined by the link lose access."
    case sheetDecline = "Decline {name}"
    case sheetDenied = "You may not change this."
    case sheetDone = "Done"
    case sheetEdit = "Can edit"
    case sheetFailed = "This item cannot be shared right now."
    case sheetGone = "This item is not available any more."
    case sheetInvite = "Invite people"
    case sheetInvited = "Only people you invite"
    case sheetInvitedOne = "You have invited {name}. Send them the link."
    case sheetInviteDo = "Invite"
    case sheetJoined = "Has joined"
    case sheetLeave = "Leave"
    case sheetLeaveHint = "You lose access to it on all your devices."
    case sheetLeaveTitle = "Leave this shared item?"
    case sheetLeft = "Has left"
    case sheetLet = "Let {name} in"
    case sheetMayAsk = "People without access can request it"
    case sheetMayInvite = "Can invite others"
    case sheetMayInviteOf = "Can invite others: {name}"
    case sheetNoAccess = "No access"
    case sheetOffline = "The server cannot be reached. Check your connection, and try again."
    case sheetOneTime = "One-time link"
    case sheetOneTimeHint = "It works for the first person who uses it."
    case sheetOneTimeMake = "Create one-time link"
    case sheetOwner = "Owner"
    case sheetPeople = "People"
    case sheetPending = "Invited"
    case sheetPermission = "Access"
    case sheetPermissionOf = "Access of {name}"
    case sheetPrivate = "Nobody else has access."
    case sheetRemove = "Remove {name}"
    case sheetRemoved = "{name} has been removed."
    case sheetRequests = "Requests for access"
    case sheetSharedBy = "Shared by {name}"
    case sheetStop = "Stop sharing"
    case sheetStopHint = "Everybody else loses access."
    case sheetStopTitle = "Stop sharing this item?"
    case sheetStopped = "This item is not shared any more."
    case sheetTitle = "Share"
    case sheetUnblock = "Unblock {name}"
    case sheetUnnamed = "Unnamed person"
    case sheetView = "Can view"
    case sheetYou = "You"
    case sheetYouEdit = "You can view and edit it."
    case sheetYouView = "You can view it."

    // MARK: - Storage

    case kept = "Storage"
    case recordsOne = "1 record, {bytes}"
    case records = "{count} records, {bytes}"
    case bytes = "{count} bytes"
    case kilobytes = "{count} kB"
    case megabytes = "{count} MB"
    case gigabytes = "{count} GB"
    case terabytes = "{count} TB"
}
