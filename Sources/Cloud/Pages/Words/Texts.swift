import Accounts

/// Texts of the pages in which something is put, in the language of the page that is being made.
enum Texts {
    static func wait(_ seconds: Int) -> String {
        switch seconds {
        case ...1: Phrase.waitSecond.text
        case ..<120: Phrase.waitSeconds.text(["count": "\(seconds)"])
        default: Phrase.waitMinutes.text(["count": "\((seconds + 59) / 60)"])
        }
    }

    static func asks(_ app: String, _ origin: String?) -> Markup {
        let name = strong(app)
        guard let origin else { return Phrase.asks.markup(["app": name]) }
        return Phrase.asksAt.markup(["app": name, "origin": "<code>\(origin)</code>"])
    }

    static func signedInAs(_ name: String, _ address: String) -> Markup {
        name.isEmpty || address.isEmpty
            ? Phrase.youAre.markup(["name": strong(name + address)])
            : Phrase.youAreAt.markup(["name": strong(name), "address": "\(address)"])
    }

    static func consent(_ app: String) -> Markup {
        """
        <p>\(Phrase.consent)</p>
        <ul>
        <li>\(Phrase.consentName)</li>
        <li>\(Phrase.consentData.markup(["app": strong(app)]))</li>
        </ul>
        <p class="quiet">\(Phrase.consentRest)</p>
        """
    }

    static func factorIsOn(_ left: Int) -> String {
        left == 1
            ? Phrase.factorIsOnLast.text : Phrase.factorIsOn.text(["count": "\(left)"])
    }

    // MARK: - Shares

    /// Who shares the thing, and with how many.
    static func shares(_ thing: SharedThing) -> Markup {
        let owner: Markup = thing.owner.isEmpty ? "\(Phrase.somebody)" : strong(thing.owner)
        let phrase: Phrase =
            switch (thing.participation, thing.mayWrite) {
            case (.owner, _): .shareOwn
            case (.joined, false): .shareJoinedRead
            case (.joined, true): .shareJoinedWrite
            case (.left, false): .shareLeftRead
            case (.left, true): .shareLeftWrite
            case (.invited, false), (.open, false): .shareOpenRead
            case (.invited, true), (.open, true): .shareOpenWrite
            }
        return phrase.markup(["owner": owner, "app": strong(thing.app.name)])
    }

    /// The others in a share, and its app.
    static func partners(_ share: KnownShare) -> String {
        let app = share.app.name
        guard share.isOwn else {
            let owner = share.owner.isEmpty ? Phrase.somebody.text : share.owner
            return Phrase.shareFrom.text(["app": app, "owner": owner])
        }
        if share.isOpen { return Phrase.shareWithLink.text(["app": app]) }
        return share.others == 1
            ? Phrase.shareWithOne.text(["app": app])
            : Phrase.shareWithMany.text(["app": app, "count": "\(share.others)"])
    }

    static func openInApp(_ app: String) -> Markup {
        Phrase.openInApp.markup(["app": strong(app)])
    }

    // MARK: - What apps keep

    /// How much that is.
    static func amount(_ records: Int, _ bytes: Int64) -> String {
        let size = size(bytes)
        return records == 1
            ? Phrase.recordsOne.text(["bytes": size])
            : Phrase.records.text(["count": "\(records)", "bytes": size])
    }

    private static func size(_ bytes: Int64) -> String {
        guard bytes >= 1_000 else { return Phrase.bytes.text(["count": "\(bytes)"]) }
        let units = [Phrase.kilobytes, .megabytes, .gigabytes, .terabytes]
        var (tenths, unit) = (bytes / 100, 0)
        while tenths >= 10_000, unit + 1 < units.count {
            tenths /= 1_000
            unit += 1
        }
        return units[unit].text(["count": "\(tenths / 10).\(tenths % 10)"])
    }

    private static func strong(_ text: String) -> Markup { "<strong>\(text)</strong>" }
}
