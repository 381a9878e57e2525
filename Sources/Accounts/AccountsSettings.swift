/// The limits on credentials; each is a setting.
package struct AccountsSettings: Sendable {
    /// How far the date of a signed request may lie from the server's clock, either way.
    package var signatureWindowSeconds = 600
    /// The life of a web token of a user who does not stay signed in.
    package var webTokenSeconds = 1_800
    /// The life of a web token of a user who stays signed in.
    package var keptWebTokenSeconds = 1_209_600
    /// The longest life that a command may give to a web token.
    package var webTokenSecondsMax = 31_622_400
    /// How long a sign-in address can be used after it was sent.
    package var signInSeconds = 900
    /// How many pairs of tokens are remembered as checked.
    package var cachedTokensMax = 20_000

    package init() {}
}
