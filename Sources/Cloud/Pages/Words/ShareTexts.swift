// What the pages of shares say.
extension Texts {
    /// The title of all of them, which programs that preview links show.
    static let sharedLink = "A shared link"
    static let signInToOpen = "Sign in to open it."
    static let untitled = "Something without a title"
    static let nothingShared =
        "There is nothing for you behind this link. It may be for another address of yours, or shared no more."
    static let join = "Join"
    static let rejoin = "Join again"
    static let openIt = "Open it"
    static let shareFull = "As many take part in it as can. Tell whoever shares it."
    static let handOn = "The link and its QR code"
    static let qrCode = "QR code of the link"

    static let otherAddress = "Invited by another address?"
    static let otherAddressHint = """
        Show that the address is yours: it is added to your account, and every invitation for it is yours.
        """
    static let otherAddressByOperator =
        "This server sends no mail. Whoever keeps it can add an address to your account."
    static let invitedAddress = "The address you were invited by"

    static let askTitle = "Not invited?"
    static let askHint = "Whoever shares it is told your name, and decides."
    static let ask = "Ask to take part"
    static let asked =
        "If there is something behind this link that takes requests, whoever shares it is told."
    static let askedTooOften = "You have asked for much today. Try again tomorrow."

    /// Who shares a thing with whom.
    static func shares(_ thing: SharedThing) -> Markup {
        let owner: Markup =
            thing.owner.isEmpty ? "Somebody" : "<strong>\(thing.owner)</strong>"
        let right = thing.mayWrite ? "see and change it" : "see it"
        switch thing.standing {
        case .owner: return "You share this by <strong>\(thing.app)</strong>."
        case .joined:
            return
                "\(owner) shares this with you by <strong>\(thing.app)</strong>. You may \(right)."
        case .left:
            return """
                \(owner) shared this with you by <strong>\(thing.app)</strong>, and you have left it. \
                If you join again, you may \(right).
                """
        case .invited, .open:
            return """
                \(owner) shares this by <strong>\(thing.app)</strong>. If you join, you may \(right), \
                and those who take part may see your name.
                """
        }
    }

    static func openInApp(_ app: String) -> Markup {
        """
        It is in the app <strong>\(app)</strong> now: open that, signed in with this account. If you do not \
        have it, ask whoever shares this where to get it.
        """
    }

    // MARK: - What apps keep

    static let kept = "What your apps keep"

    /// How much that is.
    static func amount(_ records: Int, _ bytes: Int64) -> String {
        let count = records == 1 ? "1 record" : "\(records) records"
        let units = ["kB", "MB", "GB", "TB"]
        guard bytes >= 1_000 else { return "\(count), \(bytes) bytes" }
        var (tenths, unit) = (bytes / 100, 0)
        while tenths >= 10_000, unit + 1 < units.count {
            tenths /= 1_000
            unit += 1
        }
        return "\(count), \(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
