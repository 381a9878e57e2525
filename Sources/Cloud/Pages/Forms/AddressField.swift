import Accounts
import Storage

// Fields for addresses, and what is read out of them.
extension Pages {
    /// The field of somebody who signs in: by whichever address is theirs.
    func signInAddressField(_ value: String) -> Markup {
        field(nil, reception.letterKinds.union([.email]), autocomplete: "username", value)
    }

    /// The field of an address to which something is sent.
    ///
    /// - Parameter label: nil for what the address is by itself.
    func addressField(
        _ label: Phrase? = nil, autocomplete: String, value: String = ""
    ) -> Markup {
        let kinds = reception.letterKinds
        guard kinds.contains(.phone) else {
            return field(label, kinds, autocomplete: autocomplete, value)
        }
        return """
            \(field(
                label, kinds, autocomplete: autocomplete, value,
                attributes: " aria-describedby=\"phone-hint\""))
            <p class="quiet" id="phone-hint">\(Phrase.phoneHint)</p>
            """
    }

    private func field(
        _ label: Phrase?, _ kinds: Set<Address.Kind>, autocomplete: String, _ value: String,
        attributes: Markup = .nothing
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
        guard let address = try? AddressFormat.any(text ?? ""), reception.reaches(address.kind)
        else { return nil }
        return address.kind == .email || AddressFormat.isInternational(address) ? address : nil
    }

    /// Why what was typed is no address for letters.
    var addressProblem: String {
        reception.reaches(.phone)
            ? Phrase.addressOrPhoneRefused.text : Phrase.addressRefused.text
    }

    /// What the code is called that is on its way to an address.
    static func codeLabel(for address: String) -> Phrase {
        address.contains("@") ? .code : .codeOfMessage
    }
}
