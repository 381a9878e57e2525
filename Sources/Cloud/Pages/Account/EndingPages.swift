import Accounts
import HTTP
import Storage

// `/account/export` and `/account/delete`: download your data, delete the account.
extension Pages {
    /// What the account page says of the data that is kept.
    func dataPart(_ visit: Visit) -> Markup {
        let export: Markup =
            accountUseCases.export == nil
            ? .nothing : "<p><a href=\"/account/export\">\(Phrase.exportTitle)</a></p>"
        return """
            <h2>\(Phrase.yourData)</h2>
            \(export)
            <p><a class="danger" href="/account/delete">\(Phrase.deleteTitle)</a></p>
            """
    }

    /// `/account/export`.
    func export(_ visit: Visit) throws -> PageAnswer {
        try signedIn(visit) { signedIn in
            guard let export = accountUseCases.export else {
                return PageAnswer(404, title: Phrase.notHere.text, .nothing)
            }
            guard visit.action == .export else {
                return PageAnswer(
                    title: Phrase.exportTitle.text,
                    """
                    <p>\(Phrase.exportHint)</p>
                    \(visit.form("<button>\(Phrase.exportGet)</button>"))
                    <p><a href="/account">\(Phrase.account)</a></p>
                    """)
            }
            try accountUseCases.note("account exported", signedIn.account.id, visit.request.now)
            guard let file = try export(signedIn.account) else {
                var answer = PageAnswer(503, title: Phrase.busy.text, .nothing)
                answer.headers.append(("Retry-After", "60"))
                return answer
            }
            var answer = PageAnswer(200, type: "application/zip", body: [])
            answer.headers.append(
                ("Content-Disposition", "attachment; filename=\"account.zip\""))
            answer.stream = StreamedBody([
                .file(
                    FileSlice(
                        descriptor: file.descriptor, owner: file.owner, offset: 0,
                        count: file.byteCount))
            ])
            return answer
        }
    }

    /// `/account/delete`.
    func deleteAccount(_ visit: Visit) throws -> PageAnswer {
        try signedIn(visit) { signedIn in
            let now = visit.request.now
            let day = PageDate.text(accountUseCases.endings.due(now: now))
            let fate = visit.request.form["public"].flatMap { PublicRecordsFate(rawValue: $0) }
            guard visit.action == .deleteAccount, let fate else {
                return PageAnswer(
                    visit.action == .deleteAccount ? 422 : 200, title: Phrase.deleteTitle.text,
                    """
                    <p class="warning">\(Phrase.deleteHint.text(["day": day]))</p>
                    \(visit.form("""
                    <fieldset><legend>\(Phrase.publicRecords)</legend>
                    \(Self.choice(.keep, Phrase.publicKeep.text, isChosen: true))
                    \(Self.choice(.anonymous, Phrase.publicAnonymous.text))
                    \(Self.choice(.delete, Phrase.publicDelete.text))
                    </fieldset>
                    <div class="row"><button class="danger">\(Phrase.deleteDo)</button>
                    <a class="button second" href="/account">\(Phrase.deleteNot)</a></div>
                    """))
                    """)
            }
            try accountUseCases.note("account deletion asked for", signedIn.account.id, now)
            try accountUseCases.endings.ask(for: signedIn.account.id, publicRecords: fate, now: now)
            var answer = PageAnswer(
                title: Phrase.deleteAsked.text,
                "<p role=\"status\">\(Phrase.deleteAskedHint.text(["day": day]))</p>")
            answer.headers.append(visit.request.cookies.setting(.session, to: "", seconds: 0))
            return answer
        }
    }

    private static func choice(
        _ fate: PublicRecordsFate, _ text: String, isChosen: Bool = false
    ) -> Markup {
        let id = "public-\(fate.rawValue)"
        let checked: Markup = isChosen ? " checked" : .nothing
        return """
            <div class="check"><input id="\(id)" name="public" type="radio" \
            value="\(fate.rawValue)"\(checked)><label for="\(id)">\(text)</label></div>
            """
    }
}
