import Accounts
import CloudModel
import QRCode
import Storage

// `/share/{link}`: what people see who open the link of a share, and do by it (rulings.md 37, 49 and 50).
//
// Opening a link changes nothing: who joins, asks or proves an address sends a form.
extension Pages {
    /// What came of a form, said beside it where it is still shown.
    private struct Outcome {
        var status: Int?
        var saying: Saying?
        /// Whether it was about a further address; and about which, where that is one.
        var isOfAddress = false
        var address: Address?
    }

    func share(_ visit: Visit, _ segment: String) throws -> PageAnswer {
        // Some programs encode the sign between link and secret.
        let link = segment.replacing("%7E", with: "~").replacing("%7e", with: "~")
        var answer: PageAnswer
        do {
            if let account = visit.signedIn?.account {
                answer =
                    try visit.action == nil
                    ? page(visit, link, account, Outcome()) : act(visit, link, account)
            } else {
                answer = try doorstep(visit, link)
            }
        } catch let fault as Fault where fault.code == .tryAgainLater {
            answer = PageAnswer(503, title: Phrase.busy.text, .nothing)
            answer.headers.append(("Retry-After", "\(fault.retryAfterSeconds ?? 2)"))
        }
        // Programs that show previews of links or collect pages get nothing.
        answer.headers.append(
            ("X-Robots-Tag", "noindex, nofollow, noarchive, nosnippet, noimageindex"))
        return answer
    }

    // MARK: - Not signed in

    /// The same for a link that leads nowhere and for one to what is not open to everybody.
    private func doorstep(_ visit: Visit, _ link: String) throws -> PageAnswer {
        var asking = SignInAsking()
        if visit.action?.proof == .ofItsOwn {
            switch try attempt(visit) {
            case .signedIn(_, _, let cookies):
                var answer = PageAnswer.redirect(to: "/share/\(link)")
                answer.headers += cookies
                return answer
            case .asked(let more): asking = more
            }
        }
        let thing = try shares?.look(at: link, as: nil)
        var answer = PageAnswer(
            asking.status, title: Phrase.sharedLink.text, said: asking.saying?.text,
            """
            \(thing.map { Self.card($0) } ?? .nothing)
            <p>\(Phrase.signInToOpen)</p>
            \(try signInForm(visit, asking, leadingTo: ShareReturnPath(link: link)))
            """, policy: PageAnswer.Policy(runsScript: runsScript(asking)),
            script: runsScript(asking) ? Self.passkeyScript : .nothing)
        answer.headers += asking.headers
        return answer
    }

    // MARK: - Forms

    private func act(
        _ visit: Visit, _ link: String, _ account: AccountRecord
    ) throws -> PageAnswer {
        switch visit.action {
        case .joinShare:
            do {
                let thing = try shares?.look(at: link, as: account)
                guard try shares?.join(link, as: account) == true else { break }
                // By then a link for one person is as the plain one.
                return .redirect(to: thing?.destination ?? "/share/\(link)")
            } catch let fault as Fault where fault.code == .badRequest {
                return try page(
                    visit, link, account, Outcome(status: 409, saying: .obstacle(.shareFull)))
            }
        case .askForShare:
            do {
                try shares?.ask(for: link, as: account)
                return try page(visit, link, account, Outcome(status: 200, saying: .note(.asked)))
            } catch let fault as Fault where fault.code == .throttled {
                return try page(
                    visit, link, account, Outcome(status: 429, saying: .obstacle(.askedTooOften)))
            }
        case .useShareSheet:
            let found = try shares?.sheet(
                of: link, as: account, change: visit.request.form["operation"])
            return PageAnswer(
                found == nil ? 404 : 200, type: "application/json; charset=utf-8",
                body: found ?? Array(#"{"serverErrorCode":"NOT_FOUND"}"#.utf8))
        case .addAddress:
            return try page(visit, link, account, sendCode(visit, account))
        case .proveAddress:
            let outcome = try proveAddress(visit, account)
            guard outcome.saying == nil else { return try page(visit, link, account, outcome) }
        case .switchAccount:
            if let signedIn = visit.signedIn { try accountUseCases.sessions.end(signedIn.session) }
            var answer = PageAnswer.redirect(to: "/share/\(link)")
            answer.headers.append(visit.request.cookies.setting(.session, to: "", seconds: 0))
            return answer
        default: break
        }
        return .redirect(to: "/share/\(link)")
    }

    /// Sends a code to any address, whether anybody was invited by it or not.
    private func sendCode(_ visit: Visit, _ account: AccountRecord) throws -> Outcome {
        guard let address = reachable(visit.request.form.filled("address")) else {
            return Outcome(status: 422, saying: .refusal(addressProblem), isOfAddress: true)
        }
        let outcome = try accountUseCases.letters.ask(
            for: .address, to: address, of: account.id,
            from: visit.request.client,
            language: Phrasebook.current.tag, now: visit.request.now)
        if case .wait(let seconds) = outcome {
            return Outcome(
                status: 429, saying: .obstacle(Texts.wait(seconds)), isOfAddress: true,
                address: address)
        }
        return Outcome(
            status: 200, saying: .note(.codeSent), isOfAddress: true, address: address)
    }

    /// Makes an address the account's for good, once its code is typed.
    private func proveAddress(_ visit: Visit, _ account: AccountRecord) throws -> Outcome {
        guard let address = reachable(visit.request.form.filled("address")) else {
            return Outcome(status: 422, saying: .refusal(addressProblem), isOfAddress: true)
        }
        func refused(_ phrase: Phrase) -> Outcome {
            Outcome(status: 422, saying: .refusal(phrase), isOfAddress: true, address: address)
        }
        do {
            let outcome = try accountUseCases.letterAnswers.prove(
                address, of: account.id, code: visit.request.form["code"] ?? "",
                now: visit.request.now)
            return outcome == .right ? Outcome() : refused(.codeWrong)
        } catch CatalogRefusal.addressTaken {
            return refused(.addressTaken)
        }
    }

    // MARK: - Signed in

    private func page(
        _ visit: Visit, _ link: String, _ account: AccountRecord, _ outcome: Outcome
    ) throws -> PageAnswer {
        let who: Markup = """
            <p class="quiet">\(Texts.signedInAs(account.fullName, account.email ?? ""))</p>
            \(visit.form("""
            <button class="second" name="do" value="switch">\(Phrase.useAnother)</button>
            """))
            """
        guard let thing = try shares?.look(at: link, as: account) else {
            return PageAnswer(
                outcome.status ?? 404, title: Phrase.sharedLink.text, said: outcome.saying?.text,
                """
                \(outcome.saying == nil ? Self.nothingToSee : .nothing)
                \(try elsewhere(visit, account, outcome))
                <h2>\(Phrase.askTitle)</h2>
                \(Self.said(outcome.isOfAddress ? nil : outcome.saying))
                <p>\(Phrase.askHint)</p>
                \(visit.form("<button class=\"second\" name=\"do\" value=\"ask\">\(Phrase.ask)</button>"))
                \(who)
                """)
        }
        let target = thing.destination.flatMap(CallbackAddress.policySource)
        return PageAnswer(
            outcome.status ?? 200, title: Phrase.sharedLink.text, said: outcome.saying?.text,
            """
            \(Self.said(outcome.saying, hasFocus: true))
            \(Self.card(thing))
            <p>\(Texts.shares(thing))</p>
            \(Self.introduced(thing.app))
            \(next(visit, thing))
            \(thing.takesPart ? sheet(visit, thing) : .nothing)
            \(who)
            """,
            policy: PageAnswer.Policy(
                formTargets: target.map { [$0] } ?? [], runsScript: thing.takesPart,
                sendsRequests: thing.takesPart),
            script: thing.takesPart ? elementsScript : .nothing)
    }

    /// Who takes part, with the link for others; without scripts only that link.
    private func sheet(_ visit: Visit, _ thing: SharedThing) -> Markup {
        let texts = String(decoding: Self.sheetTexts, as: UTF8.self)
        return """
            <share-page data-guard="\(visit.formToken)" data-texts="\(texts)">\(Self.handOn(thing))\
            </share-page>
            """
    }

    private static var nothingToSee: Markup { "<p>\(Phrase.nothingShared)</p>" }

    /// Asks for another address that the account was invited by.
    private func elsewhere(
        _ visit: Visit, _ account: AccountRecord, _ outcome: Outcome
    ) throws -> Markup {
        guard accountUseCases.hasLetters else {
            return """
                <h2>\(Phrase.otherAddress)</h2><p>\(Phrase.otherAddressByOperator)</p>
                """
        }
        let awaited = try awaited(visit, account)
        let saying = outcome.isOfAddress ? outcome.saying : nil
        var answer: (Address, Saying)?
        if let address = outcome.address, let saying, awaited.contains(address) {
            answer = (address, saying)
        }
        let own = answer == nil ? saying : nil
        let typed = own == nil ? "" : visit.request.form.filled("address") ?? ""
        return """
            <h2>\(Phrase.otherAddress)</h2><p>\(Phrase.otherAddressHint)</p>
            \(codeForms(visit, awaited, send: "address", prove: "code", answer))
            \(Self.said(own))
            \(visit.form("""
            \(addressField(
                .invitedAddress, autocomplete: "off", value: typed,
                own.map { FieldState($0) } ?? .plain))
            <div class="row"><button name="do" value="address">\(Phrase.sendCode)</button></div>
            """))
            """
    }

    /// What the visitor may do now.
    private func next(_ visit: Visit, _ thing: SharedThing) -> Markup {
        switch thing.participation {
        case .invited, .open, .left:
            return visit.form(
                """
                <div class="row"><button name="do" value="join">\
                \(thing.participation == .left ? Phrase.rejoin.text : Phrase.join.text)</button></div>
                """)
        case .owner, .joined:
            guard let destination = thing.destination else {
                return "<p>\(Texts.openInApp(thing.app.name))</p>"
            }
            return """
                <div class="row"><a class="button" href="\(destination)" rel="noreferrer">\
                \(Phrase.openIt)</a></div>
                """
        }
    }

    /// Title, kind and picture, as far as the owner gave them.
    private static func card(_ thing: SharedThing) -> Markup {
        let picture: Markup =
            thing.thumbnail.flatMap { Thumbnail($0) }.map {
                "<img src=\"\($0.address)\" alt=\"\">"
            } ?? .nothing
        let kind: Markup = thing.type.map { "<p class=\"quiet\">\($0)</p>" } ?? .nothing
        return """
            <div class="card">\(picture)<h2>\(thing.title ?? Phrase.untitled.text)</h2>\(kind)</div>
            """
    }

    /// The link for others, as text and as a picture for their phones.
    private static func handOn(_ thing: SharedThing) -> Markup {
        let picture = QRCode(thing.link).map { Markup(made: $0.svg(label: Phrase.qrCode.text)) }
        return """
            <details><summary>\(Phrase.handOn)</summary>
            <p><code>\(thing.link)</code></p><div class="qr">\(picture ?? .nothing)</div></details>
            """
    }
}
