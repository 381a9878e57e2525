/// How long what a caller shows stays good.
package struct TokenSettings: Sendable, Equatable {
    package var webAuthSecondsMax = 1_800
    package var webAuthStaySecondsMax = 1_209_600
}

extension TokenSettings {
    static let section = Setting.Section(
        name: "tokens", documentation: "How long what a caller shows stays good.",
        settings: [
            .number(
                "tokens.webAuthSecondsMax", \.tokens.webAuthSecondsMax, 60...31_536_000, "seconds",
                "Life of a user's web token. It is renewed once half of it is over."),
            .number(
                "tokens.webAuthStaySecondsMax", \.tokens.webAuthStaySecondsMax, 60...31_536_000,
                "seconds",
                "The same where the user asked to stay signed in."),
        ])
}
