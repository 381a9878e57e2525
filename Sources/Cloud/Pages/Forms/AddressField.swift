import Accounts
import Storage

// Fields for addresses, and what is read out of them.
extension Pages {
    /// The field of somebody who signs in: by whichever address is theirs.
    func signInAddressField(_ value: String, _ state: FieldState) -> Markup {
        field(
            nil, accountUseCases.letterKinds.union([.email]), autocomplete: "username", value,
            state.attributes())
    }

    /// The field of an address to which something is sent.
    ///
    /// - Parameter label: nil for what the address is by itself.
    func addressField(
        _ label: Phrase? = nil, autocomplete: String, value: String = "", _ state: FieldState
    ) -> Markup {
        let kinds = accountUseCases.letterKinds
        guard kinds.contains(.phone) else {
            return field(label, kinds, autocomplete: autocomplete, value, state.attributes())
        }
        return """
            \(field(
                label, kinds, autocomplete: autocomplete, value,
                state.attributes(hint: "phone-hint")))
            <p class="quiet" id="phone-hint">\(Phrase.phoneHint)</p>
            """
    }

    private func field(
        _ label: Phrase?, _ kinds: Set<Address.Kind>, autocomplete: String, _ value: String,
        _ attributes: Markup
    ) -> Markup {
        let (own, type): (Phrase, Markup) =
            switch kinds {
            case [.phone]: (.phone, "tel")
            case [.email]: (.address, "email")
            default: (.addressOrPhone, "text")
            }
        return """
            <label for="address">\(label ?? own)</label>
            <input id="address" name="address" type="\(type)" autocomplete="\(autocomplete)" \
            autocapitalize="none" spellcheck="false" required maxlength="254" value="\(value)"\(attributes)>
            """
    }

    /// What somebody typed as an address to which letters go; nil for anything else.
    ///
    /// A phone number has its country's code: who invites somebody, and who takes messages further, has to
    /// mean the same number.
    func reachable(_ text: String?) -> Address? {
        // NB: there is one way to be no address.
        guard let address = try? AddressFormat.any(text ?? ""),
            accountUseCases.reaches(address.kind)
        else { return nil }
        return address.kind == .email || AddressFormat.isInternational(address) ? address : nil
    }

    /// What a wrong password is answered with, whichever address was typed.
    var wrongPassword: Phrase {
        accountUseCases.letterKinds.contains(.phone) ? .wrongOrPhone : .wrong
    }

    /// Why what was typed is no address for letters.
    var addressProblem: String {
        accountUseCases.reaches(.phone)
            ? Phrase.addressOrPhoneRefused.text : Phrase.addressRefused.text
    }

    /// The address of a page with the address that a person typed, so that they need not type it again.
    func address(_ path: String, keepingAddressOf visit: Visit) -> String {
        address(path, keeping: reachable(visit.request.form.filled("address"))?.text, visit)
    }

    func address(_ path: String, keeping typed: String?, _ visit: Visit) -> String {
        guard let typed else { return path }
        let pageToken = accountUseCases.pageTokens.make(
            .address, [typed], browser: visit.browser, seconds: Self.keptSeconds,
            now: visit.request.now)
        return "\(path)?address=\(pageToken)"
    }

    private static let keptSeconds = 900

    /// What somebody typed before; nil for nothing, and for what this browser was not given by us.
    func keptAddress(_ visit: Visit) -> String? {
        accountUseCases.pageTokens.open(
            visit.request.query["address"], .address, browser: visit.browser,
            now: visit.request.now)?.first
    }

    /// The addresses to which codes are on their way, so that people find the forms again when they come back
    /// from their mail.
    func awaited(_ visit: Visit, _ account: AccountRecord) throws -> [Address] {
        let held = Set(account.addresses.filter { $0.verifiedAt != nil }.map(\.address))
        return try accountUseCases.catalog.awaitedAddresses(of: account.id, now: visit.request.now)
            .filter { !held.contains($0) }.suffix(Self.awaitedMax)
    }

    /// With more addresses at a time than that, the last ones are shown.
    private static let awaitedMax = 3

    /// Forms for the codes that are on their way; each lets another code be sent.
    ///
    /// - Parameters:
    ///   - send: what a form says that has another code sent.
    ///   - prove: what a form says that brings a code.
    ///   - answer: what came of the form of one of the addresses; nil where none was sent.
    func codeForms(
        _ visit: Visit, _ awaited: [Address], send: String, prove: String,
        _ answer: (address: Address, saying: Saying)?
    ) -> Markup {
        let forms: [Markup] = awaited.enumerated().map { index, address in
            let own = answer?.address == address ? answer?.saying : nil
            // The code that was just asked for is what comes next.
            let state: FieldState =
                own.map { $0.kind == .note ? .first : FieldState($0) } ?? .plain
            return """
                \(Self.said(own, hasFocus: own?.kind == .obstacle))
                \(visit.form("""
                <input type="hidden" name="address" value="\(address.text)">
                <label for="code-\(index)">\(Phrase.code) (\(address.text))</label>
                <input id="code-\(index)" name="code" inputmode="numeric" \
                autocomplete="one-time-code" required maxlength="12"\(state.attributes())>
                <div class="row"><button name="do" value="\(prove)">\(Phrase.proveAddress)</button>
                <button class="second" name="do" value="\(send)" formnovalidate>\
                \(Phrase.sendCodeAgain)</button></div>
                """))
                """
        }
        return Markup(forms)
    }
}
