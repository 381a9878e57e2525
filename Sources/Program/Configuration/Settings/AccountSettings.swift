/// Who gets an account, and the limits on guesses.
package struct AccountSettings: Sendable, Equatable {
    package enum SignUp: String, Sendable, CaseIterable { case off, invitation, open }

    package var signUp = SignUp.invitation
    package var passwordCostBits = 15
    package var sessionSecondsMax = 43_200
    package var keptSessionSecondsMax = 2_592_000
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
                Who may make an account. "invitation": people with a link from `user invite`. \
                "open": everybody with an address. "off": nobody; `user create` makes them.
                """),
            .number(
                "accounts.passwordCostBits", \.accounts.passwordCostBits, 10...20, "bits",
                """
                What comparing a password takes: each bit doubles time and memory (15: 32 \
                MiB).
                """),
            .number(
                "accounts.sessionSecondsMax", \.accounts.sessionSecondsMax, 60...31_536_000,
                "seconds", "Greatest age of a browser's session on the pages."),
            .number(
                "accounts.keptSessionSecondsMax", \.accounts.keptSessionSecondsMax,
                60...31_536_000, "seconds",
                "The same where the person asked to stay signed in."),
            .number(
                "accounts.deletionGraceDays", \.accounts.deletionGraceDays, 0...3_650, "days",
                "How long a deleted account can be had back by signing in."),
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
                How they leave. "smtp": by the server `mail.host`. "program": `mail.program` \
                gets each. "log": they are printed, for development. "none": they are not \
                sent.
                """),
            .file(
                "mail.program", \.mail.program,
                """
                A program that takes a message on standard input when called with -i -t, as \
                /usr/sbin/sendmail does.
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
                TLS from STARTTLS on, from the first byte on, or none: for a server on this \
                machine, never with a password.
                """),
            .text(
                "mail.user", \.mail.user, allowed: "empty, or a name",
                check: { !$0.utf8.contains(0) },
                "Whom it knows this server as; empty: nobody."),
            .file(
                "mail.passwordFile", \.mail.passwordFile,
                "File with the password of `mail.user` in its first line."),
            .file(
                "mail.authoritiesFile", \.mail.authoritiesFile,
                """
                Certificates in PEM that the mail server's must come from. Empty: those that \
                this machine trusts.
                """),
        ])
}
