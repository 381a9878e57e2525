import Cryptography

/// The limits on credentials.
///
/// Lives of tokens and sessions, the cost of a password, text messages and the days of a deletion are settings. The
/// others are the same on every server, for the reason that stands with each.
package struct AccountsSettings: Sendable {
    /// How far the date of a signed request may lie from the server's clock, either way (web-services.md §7).
    package var signatureWindowSeconds = 600
    /// The life of a web token of a user who does not stay signed in.
    package var webTokenSeconds = 1_800
    /// The life of a web token of a user who stays signed in.
    package var keptWebTokenSeconds = 1_209_600
    /// The longest life that a command may give to a web token.
    package var webTokenSecondsMax = 31_622_400
    /// How long a sign-in address can be used after it was sent.
    package var signInSeconds = 900
    /// How long a program may take to trade its code (rulings.md 54).
    package var signInCodeSeconds = 60
    /// How many pairs of tokens are remembered as checked.
    package var cachedTokensMax = 20_000
    /// What it takes to compare a password.
    package var passwordCosts = PasswordHash.Costs.standard
    /// Guesses at one account's password: few who know it need a sixth, and nobody waits longer than a quarter of an
    /// hour.
    package var accountPolicy = GuessLimits.Policy(
        free: 5, secondsMax: 900, forgetSeconds: 86_400)
    /// Wrong guesses from one block of network addresses, at whatever accounts: more than of one account, because an
    /// office or a school has one address for all.
    package var clientPolicy = GuessLimits.Policy(
        free: 20, secondsMax: 900, forgetSeconds: 86_400)
    /// Letters of one kind to one address or for one account, and all that one block of addresses asks for:
    /// enough for a letter that got lost, too few to fill a mailbox.
    package var letterPolicy = GuessLimits.Policy(
        free: 5, secondsMax: 3_600, forgetSeconds: 86_400)
    /// Letters that wait to be sent, a quarter of each kind; strangers' wishes beyond are refused, as a mail server
    /// that takes no more in a minute would lose them.
    package var lettersWaitingMax = 1_000
    /// Text messages in an hour, for all callers together.
    package var textMessagesPerHourMax = 200
    /// Sessions of apps that one account has at a time in an environment of a container: servers of apps may begin
    /// one for each page that a user opens.
    package var appSessionsMax = 1_000
    /// Sessions of browsers that one account has at a time.
    package var browserSessionsMax = 50
    /// The greatest age of a browser's session.
    package var sessionSeconds = 43_200
    /// The same where the person asked to stay signed in.
    package var keptSessionSeconds = 2_592_000
    /// How long somebody who has shown who they are need not show it again for what cannot be undone.
    package var proofSeconds = 600
    /// How long a link by which a password is replaced is good: the person who asks is waiting for it.
    package var resetSeconds = 3_600
    /// How long an invitation is good: a letter may lie for a week.
    package var invitationSeconds = 604_800
    /// How long a code that shows that an address is somebody's is good, for the same reason.
    package var addressCodeSeconds = 900
    /// How often such a code may be tried.
    package var addressCodeTriesMax = 5
    /// How long somebody can take the deletion of their account back.
    package var deletionGraceDays = 30

    package init() {}
}
