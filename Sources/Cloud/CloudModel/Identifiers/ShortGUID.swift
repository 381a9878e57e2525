/// The short identifier of a share's root, which links carry: 25 URL-safe characters.
package struct ShortGUID: Hashable, Sendable {
    /// The first characters, which say in which container environments it may lead somewhere.
    package struct Route: Hashable, Sendable {
        package let text: String

        static let characterCount = 3

        /// The route of identifiers that are made without a container.
        package static let nowhere = Route(of: "000")

        /// Several environments may have the same one.
        package init(_ container: ContainerID, _ environment: Environment) {
            // FNV-1a: spread evenly is all that is wanted.
            let bytes = Array("\(container.folded) \(environment.rawValue)".utf8)
            let hash = bytes.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            }
            let letters = [hash >> 32, hash >> 48].map { ShortGUID.alphabet[Int($0 & 63)] }
            text = "0" + String(decoding: letters, as: UTF8.self)
        }

        fileprivate init(of text: String) { self.text = String(text.prefix(Self.characterCount)) }
    }

    package let text: String

    package static let characterCount = 25

    package var route: Route { Route(of: text) }

    /// - Returns: nil for text that no short identifier has.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count == ShortGUID.characterCount,
            bytes.allSatisfy({ ShortGUID.alphabet.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Makes one from 22 random bytes: 132 bits that nobody can guess.
    package init(_ route: Route, random bytes: [UInt8]) {
        let random = bytes.prefix(ShortGUID.characterCount - Route.characterCount)
            .map { ShortGUID.alphabet[Int($0 & 63)] }
        text = route.text + String(decoding: random, as: UTF8.self)
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// What the last part of a share's address says: `<shortGUID>`, or `<shortGUID>~<secret>` of a link that is good
/// for one person (rulings.md 49).
package struct ShareLink: Hashable, Sendable {
    package let guid: ShortGUID
    package let secret: String?

    /// - Returns: nil for text that no link has.
    package init?(_ text: String) {
        let parts = text.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let guid = ShortGUID(String(first)) else { return nil }
        self.guid = guid
        secret = parts.count == 2 ? String(parts[1]) : nil
    }
}
