/// Who gets an account, and how patient the server is with guesses.
package struct AccountSettings: Sendable, Equatable {
    package enum SignUp: String, Sendable, CaseIterable { case off, invitation, open }

    package var signUp = SignUp.invitation
    package var passwordCostBits = 15
    package var sessionSecondsMax = 43_200
    package var keptSessionSecondsMax = 2_592_000
    package var guessesPerAccountMax = 5
    package var guessesPerAddressMax = 20
    package var guessWaitSecondsMax = 900
    package var lettersMax = 5
    package var lettersWaitingMax = 1_000
    package var resetSecondsMax = 3_600
    package var invitationSecondsMax = 604_800
    package var codeSecondsMax = 900
    package var deletionGraceDays = 30
}

extension AccountSettings {
    static let section = Setting.Section(
        name: "accounts",
        documentation: "People's accounts, and the pages on which they sign in.",
        settings: [
            .choice(
                "accounts.signUp", \.accounts.signUp,
                """
                Who may make an account. "invitation": whoever has a link from `user invite`. "open": \
                whoever has an address to which a link can be sent. "off": nobody; `user create` makes them.
                """),
            .number(
                "accounts.passwordCostBits", \.accounts.passwordCostBits, 10...20, "bits",
                """
                What comparing a password takes: each bit doubles time and memory (15: 32 MiB). Passwords \
                kept at other costs are kept anew at the next sign-in.
                """),
            .number(
                "accounts.sessionSecondsMax", \.accounts.sessionSecondsMax, 60...31_536_000,
                "seconds", "Greatest age of a browser's session on the pages."),
            .number(
                "accounts.keptSessionSecondsMax", \.accounts.keptSessionSecondsMax,
                60...31_536_000, "seconds",
                "The same where the person asked to stay signed in."),
            .number(
                "accounts.guessesPerAccountMax", \.accounts.guessesPerAccountMax, 1...1_000,
                "guesses",
                """
                Wrong passwords for one address before each further one has to wait, twice as long each \
                time. A browser that has signed in there before is counted by itself.
                """),
            .number(
                "accounts.guessesPerAddressMax", \.accounts.guessesPerAddressMax, 1...100_000,
                "guesses",
                """
                The same for wrong passwords from one network address, for whatever accounts. Four times as \
                many from an IPv6 /56, and sixteen times from a /48.
                """),
            .number(
                "accounts.guessWaitSecondsMax", \.accounts.guessWaitSecondsMax, 1...86_400,
                "seconds", "The longest wait for a further guess."),
            .number(
                "accounts.lettersMax", \.accounts.lettersMax, 1...1_000, "letters",
                """
                Letters of one kind to one address and for one account, and letters for one network address, \
                before each further one has to wait, twice as long each time.
                """),
            .number(
                "accounts.lettersWaitingMax", \.accounts.lettersWaitingMax, 1...1_000_000,
                "letters",
                """
                Letters that wait to be sent, a quarter of them of each kind: new passwords, invitations, \
                codes, news of new browsers. Wishes beyond are refused for a minute.
                """),
            .number(
                "accounts.resetSecondsMax", \.accounts.resetSecondsMax, 60...604_800, "seconds",
                "How long a link to a new password is good."),
            .number(
                "accounts.invitationSecondsMax", \.accounts.invitationSecondsMax,
                60...31_536_000, "seconds", "How long an invitation is good."),
            .number(
                "accounts.codeSecondsMax", \.accounts.codeSecondsMax, 60...86_400, "seconds",
                "How long a code that proves an address is good."),
            .number(
                "accounts.deletionGraceDays", \.accounts.deletionGraceDays, 0...3_650, "days",
                """
                How long an account whose owner has deleted it can be had back by signing in. Then it goes \
                with its private data.
                """),
        ])
}

/// How letters leave.
package struct MailSettings: Sendable, Equatable {
    package enum Sender: String, Sendable, CaseIterable { case none, log, program, smtp }

    package enum Security: String, Sendable, CaseIterable { case starttls, implicit, none }

    package var sender = Sender.none
    /// Empty for none.
    package var program = ""
    package var from = "lenticular@localhost"
    /// Empty for none.
    package var host = ""
    package var port = 587
    package var security = Security.starttls
    package var user = ""
    package var passwordFile = ""
    package var authoritiesFile = ""
}

extension MailSettings {
    static let section = Setting.Section(
        name: "mail",
        documentation: "Letters to people: links to new passwords, invitations, codes.",
        settings: [
            .choice(
                "mail.sender", \.mail.sender,
                """
                How they leave. "smtp": by the mail server `mail.host`. "program": `mail.program` gets each on \
                its standard input. "log": they \
                are printed, for development; `serve --dev` takes it by itself. "none": they are not sent.
                """),
            .text(
                "mail.program", \.mail.program,
                allowed: "empty, or the path of a program",
                check: { $0.isEmpty || SettingText.isPath($0) },
                """
                A program that takes a message with its header on standard input when called with -i -t, \
                as /usr/sbin/sendmail does.
                """),
            .text(
                "mail.from", \.mail.from,
                allowed: "an e-mail address in visible ASCII",
                check: { address in
                    address.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                        && address.split(separator: "@").count == 2
                        && !address.contains { "<>,;:\"()[]\\".contains($0) }
                },
                "Whom letters are from."),
            .text(
                "mail.host", \.mail.host, allowed: "empty, or a host",
                check: { $0.isEmpty || ListenText.isHost($0[...]) },
                "The mail server of \"smtp\"."),
            .number("mail.port", \.mail.port, 1...65_535, "ports", "The port of the mail server."),
            .choice(
                "mail.security", \.mail.security,
                """
                How it is spoken to: TLS from STARTTLS on, TLS from the first byte on, or none, which is \
                for a server on this machine and never with a password.
                """),
            .text(
                "mail.user", \.mail.user, allowed: "empty, or a name",
                check: { !$0.utf8.contains(0) },
                "Whom it knows this server as; empty: nobody."),
            .text(
                "mail.passwordFile", \.mail.passwordFile,
                allowed: "empty, or the path of a file that holds the password in its first line",
                check: { $0.isEmpty || SettingText.isPath($0) },
                "A file that holds the password of `mail.user`."),
            .text(
                "mail.authoritiesFile", \.mail.authoritiesFile,
                allowed: "empty, or the path of a file with certificates in PEM",
                check: { $0.isEmpty || SettingText.isPath($0) },
                "Whose certificates are believed instead of the machine's authorities."),
        ])
}
