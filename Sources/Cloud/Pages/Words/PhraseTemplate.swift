/// A text with names in braces, in whose places something is put.
struct PhraseTemplate {
    enum Piece: Equatable {
        case words(String)
        case name(String)
    }

    let pieces: [Piece]

    /// A text that is known to be good.
    init(_ text: String) {
        self.init(pieces: Self.pieces(of: text) ?? [.words(text)])
    }

    /// Nil for a text whose braces do not belong together or hold no name.
    init?(checking text: String) {
        guard let pieces = Self.pieces(of: text) else { return nil }
        self.init(pieces: pieces)
    }

    private init(pieces: [Piece]) { self.pieces = pieces }

    /// What is put in.
    var names: Set<String> {
        Set(
            pieces.compactMap { piece in
                if case .name(let name) = piece { name } else { nil }
            })
    }

    private static func pieces(of text: String) -> [Piece]? {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if open > rest.startIndex { pieces.append(.words(String(rest[..<open]))) }
            guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
                return nil
            }
            let name = rest[rest.index(after: open)..<close]
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && $0.isLetter }) else { return nil }
            pieces.append(.name(String(name)))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { pieces.append(.words(String(rest))) }
        return pieces
    }
}
