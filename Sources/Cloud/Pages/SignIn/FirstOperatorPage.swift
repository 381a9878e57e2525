import Accounts
import CloudModel
import Storage

// `/sign-in/first`: where the first operator of a new server makes their account, by the link that the server printed.
extension Pages {
    func firstOperator(_ visit: Visit) throws -> PageAnswer {
        let form = visit.request.form
        var (address, password, ended): (Saying?, Saying?, Saying?)
        if visit.action == .becomeOperator {
            do {
                let account = try accountUseCases.firstOperator.take(
                    form["secret"] ?? "", email: form["address"] ?? "",
                    password: typed(visit, "password"), now: visit.request.now)
                if let account {
                    try accountUseCases.note("first operator", account.id, visit.request.now)
                    var answer = PageAnswer.redirect(to: "/account/second-factor")
                    answer.headers += try begin(account, visit, true, isKept: false).cookies
                    return answer
                }
                ended = .obstacle(.firstOperatorEnded)
            } catch AccountsRefusal.emailIllegal {
                address = .refusal(addressProblem)
            } catch AccountsRefusal.passwordIllegal {
                password = .refusal(.passwordRefused)
            } catch CatalogRefusal.addressTaken {
                address = .obstacle(.addressTaken)
            }
        }
        let saying = ended ?? address ?? password
        return PageAnswer(
            saying == nil ? 200 : ended == nil ? 422 : 404, title: Phrase.firstOperator.text,
            said: saying?.text,
            """
            <p>\(Phrase.firstOperatorHint)</p>
            \(Self.said(saying))
            \(visit.form(to: "/sign-in/first", """
            <input type="hidden" id="secret" name="secret" value="\(form["secret"] ?? "")">
            <label for="address">\(Phrase.address)</label>
            <input id="address" name="address" type="email" autocomplete="username" required \
            maxlength="254" value="\(form["address"] ?? "")"\
            \((address == nil ? .plain : FieldState(address)).attributes())>
            \(Self.newPasswordField(password == nil ? .plain : .refused))
            <div class="row"><button>\(Phrase.newHere)</button></div>
            """))
            """,
            policy: PageAnswer.Policy(runsScript: true),
            script: "<script src=\"/sign-in/first.js\" defer></script>")
    }
}
