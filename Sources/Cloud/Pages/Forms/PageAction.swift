/// What a form asks of a page.
///
/// All that people do by the pages stands here, in one table, with what they have to show for it. The
/// dispatcher (`Pages`) looks it up and lets nothing else through: pages ask `Visit.action`, never the form.
enum PageAction: Sendable, CaseIterable {
    // Signing in and out.
    case signIn, typeCode, usePasskey, goToProvider, askForReset, resetPassword, askForAccount
    case makeAccount, becomeOperator, prove, signOut, switchAccount
    // Apps.
    case letAppIn, refuseApp, endApp
    // How somebody signs in.
    case changePassword, addAddress, proveAddress, endBrowser, endAll
    case setSecondFactor, removeSecondFactor, addPasskey, removePasskey
    case linkProvider, unlinkProvider, deleteAccount
    // One's data.
    case beFindable, export
    // Shares.
    case joinShare, askForShare, useShareSheet

    /// What a person has to prove before the page does it.
    enum Proof: Sendable {
        /// Nothing: it does nothing to an account.
        case nothing
        /// The form itself shows it: a password, a code, a passkey, or the secret of a letter.
        case ofItsOwn
        /// That they are signed in, however long ago.
        case session
        /// That they have signed in recently (`BrowserSessions.isFresh`).
        case fresh
    }

    /// Changes of who may sign in, and how, need a fresh session: an old one may be a thief's.
    var proof: Proof {
        switch self {
        case .signIn, .typeCode, .usePasskey, .resetPassword, .makeAccount, .becomeOperator,
            .prove:
            .ofItsOwn
        case .goToProvider, .askForReset, .askForAccount, .signOut, .switchAccount, .refuseApp:
            .nothing
        case .letAppIn, .beFindable, .joinShare, .askForShare, .useShareSheet: .session
        case .changePassword, .addAddress, .proveAddress, .endBrowser, .endAll, .endApp,
            .setSecondFactor, .removeSecondFactor, .addPasskey, .removePasskey, .linkProvider,
            .unlinkProvider, .deleteAccount, .export:
            .fresh
        }
    }

    /// Whether a password is hashed for it, which takes long and has a lane of its own.
    var hashesPassword: Bool {
        switch self {
        case .signIn, .resetPassword, .makeAccount, .becomeOperator, .prove, .changePassword: true
        default: false
        }
    }
}

extension PageAction {
    /// One form of one page.
    struct Form: Sendable {
        let page: PageName
        /// The field that says what is asked, and what it says then; nil where the page asks for one thing only.
        let sign: (field: String, word: String)?
        let action: PageAction

        init(_ page: PageName, _ action: PageAction) {
            (self.page, sign, self.action) = (page, nil, action)
        }

        init(_ page: PageName, do word: String, _ action: PageAction) {
            (self.page, sign, self.action) = (page, ("do", word), action)
        }

        init(_ page: PageName, step word: String, _ action: PageAction) {
            (self.page, sign, self.action) = (page, ("step", word), action)
        }

        func isMeant(by fields: FormFields) -> Bool {
            sign.map { fields[$0.field] == $0.word } ?? true
        }
    }

    /// Every form of every page; of a page's forms the first that is meant counts.
    static let forms: [Form] =
        [PageName.signIn, .ticket, .share].flatMap { page in
            [
                Form(page, step: "sign-in", .signIn), Form(page, step: "code", .typeCode),
                Form(page, step: "passkey", .usePasskey),
            ]
        } + [
            // Programs that sign in with an address and a password alone.
            Form(.signIn, .signIn),
            Form(.ticket, step: "continue", .letAppIn),
            Form(.ticket, step: "switch", .switchAccount),
            Form(.ticket, step: "cancel", .refuseApp),
            Form(.provider, do: "link", .linkProvider), Form(.provider, .goToProvider),
            Form(.forgotten, .askForReset), Form(.newAccount, .askForAccount),
            Form(.reset, .resetPassword), Form(.welcome, .makeAccount),
            Form(.firstOperator, .becomeOperator), Form(.signOut, .signOut),
            Form(.account, do: "end-browser", .endBrowser),
            Form(.account, do: "end-app", .endApp), Form(.account, do: "end-all", .endAll),
            Form(.account, do: "findable", .beFindable),
            Form(.account, do: "password", .changePassword),
            Form(.account, do: "add-address", .addAddress),
            Form(.account, do: "prove-address", .proveAddress),
            Form(.prove, .prove),
            Form(.secondFactor, do: "set", .setSecondFactor),
            Form(.secondFactor, do: "remove", .removeSecondFactor),
            Form(.identities, do: "unlink", .unlinkProvider),
            Form(.passkeys, do: "add", .addPasskey), Form(.passkeys, do: "remove", .removePasskey),
            Form(.export, .export), Form(.delete, .deleteAccount),
            Form(.share, do: "join", .joinShare), Form(.share, do: "ask", .askForShare),
            Form(.share, do: "sheet", .useShareSheet),
            Form(.share, do: "address", .addAddress), Form(.share, do: "code", .proveAddress),
            Form(.share, do: "switch", .switchAccount),
        ]

    /// What a form that came to a page asks for; nil for nothing that the page knows.
    static func asked(of page: PageName, by fields: FormFields) -> PageAction? {
        forms.first { $0.page == page && $0.isMeant(by: fields) }?.action
    }
}
