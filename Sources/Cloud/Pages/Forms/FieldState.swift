/// How a field of a form stands when its page is shown: waiting for the cursor, or refused.
///
/// One field of a page has the focus at most; what was said of a form is beside it, under the id `said`.
struct FieldState {
    private let isRefused: Bool
    private let hasFocus: Bool

    static let plain = FieldState(isRefused: false, hasFocus: false)
    /// The first field of a page that is there for its form.
    static let first = FieldState(isRefused: false, hasFocus: true)
    /// What the field held is what was wrong.
    static let refused = FieldState(isRefused: true, hasFocus: true)
    /// As `refused`, beside another such field.
    static let refusedToo = FieldState(isRefused: true, hasFocus: false)

    private init(isRefused: Bool, hasFocus: Bool) {
        self.isRefused = isRefused
        self.hasFocus = hasFocus
    }

    /// The state of the one field that a form is about.
    ///
    /// - Parameter saying: what came of the form; nil when nobody has sent it.
    init(_ saying: Saying?) {
        switch saying?.kind {
        case nil: self = .first
        case .refusal: self = .refused
        case .obstacle, .note: self = .plain
        }
    }

    /// Attributes of the field.
    ///
    /// - Parameter hint: the id of what explains the field; nil for nothing.
    func attributes(hint: String? = nil) -> Markup {
        let described = [isRefused ? "said" : nil, hint].compactMap { $0 }.joined(separator: " ")
        let parts: [Markup] = [
            isRefused ? " aria-invalid=\"true\"" : .nothing,
            described.isEmpty ? .nothing : " aria-describedby=\"\(described)\"",
            hasFocus ? " autofocus" : .nothing,
        ]
        return Markup(parts)
    }
}

/// What a page says of a form that was sent, beside that form.
struct Saying: Sendable {
    enum Kind: Sendable {
        /// What a field held was wrong: the field has the focus and is marked.
        case refusal
        /// Nothing that was typed is wrong, and yet it was not done.
        case obstacle
        /// It was done.
        case note
    }

    let kind: Kind
    let text: String

    static func refusal(_ text: String) -> Saying { Saying(kind: .refusal, text: text) }
    static func refusal(_ phrase: Phrase) -> Saying { refusal(phrase.text) }
    static func obstacle(_ text: String) -> Saying { Saying(kind: .obstacle, text: text) }
    static func obstacle(_ phrase: Phrase) -> Saying { obstacle(phrase.text) }
    static func note(_ phrase: Phrase) -> Saying { Saying(kind: .note, text: phrase.text) }
}

extension Pages {
    /// What came of a form.
    ///
    /// - Parameter hasFocus: nil for whether no field has it.
    static func said(_ saying: Saying?, hasFocus: Bool? = nil) -> Markup {
        guard let saying else { return .nothing }
        let looks: Markup =
            saying.kind == .note
            ? "class=\"note\" role=\"status\"" : "class=\"problem\" role=\"alert\""
        let focus: Markup =
            hasFocus ?? (saying.kind != .refusal) ? " tabindex=\"-1\" autofocus" : .nothing
        return "<p \(looks) id=\"said\"\(focus)>\(saying.text)</p>"
    }
}
