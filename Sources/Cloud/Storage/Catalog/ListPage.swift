/// Which part of a list is asked for.
///
/// A list may be longer than memory. Each answer is one page of it, and the next request says where that
/// page ended. Items that come and go between two pages may be on one of them or on none; each other item is
/// on exactly one page.
package struct ListRequest: Sendable {
    /// Nobody holds more items than this at once.
    package static let limitMax = 10_000
    /// What fits well into one answer.
    package static let limitUsual = 1_000

    /// Where the page before ended; nil for the first page.
    package let after: ListCursor?
    /// How many items the page has at most.
    package let limit: Int
    /// How the name begins that the list is searched by; empty for all.
    ///
    /// No character is a wildcard.
    package let prefix: String

    package init(after: ListCursor? = nil, limit: Int = limitUsual, prefix: String = "") {
        self.after = after
        self.limit = min(max(limit, 1), Self.limitMax)
        self.prefix = prefix
    }
}

/// One page of a list.
package struct ListPage<Item: Sendable>: Sendable {
    package let items: [Item]
    /// Where the next page begins; nil when there is nothing behind this one.
    package let next: ListCursor?

    package init(items: [Item], next: ListCursor?) {
        self.items = items
        self.next = next
    }

    package func map<Other: Sendable>(_ change: (Item) throws -> Other) rethrows -> ListPage<Other>
    {
        ListPage<Other>(items: try items.map(change), next: next)
    }

    package func filter(_ isWanted: (Item) throws -> Bool) rethrows -> ListPage {
        ListPage(items: try items.filter(isWanted), next: next)
    }

    /// Goes through a whole list and holds one page of it at a time.
    ///
    /// - Parameter page: answers one page.
    package static func forEach(
        prefix: String = "", _ page: (ListRequest) throws -> ListPage, _ body: (Item) throws -> Void
    ) rethrows { try forEachPage(prefix: prefix, page) { for item in $0 { try body(item) } } }

    /// As `forEach`, for a body that asks something about all items of a page together.
    package static func forEachPage(
        prefix: String = "", _ page: (ListRequest) throws -> ListPage,
        _ body: ([Item]) throws -> Void
    ) rethrows {
        var after: ListCursor?
        repeat {
            let found = try page(ListRequest(after: after, prefix: prefix))
            if !found.items.isEmpty { try body(found.items) }
            after = found.next
        } while after != nil
    }
}

/// Where a page of a list ended, in a text that only the list can read.
package struct ListCursor: Sendable, Equatable {
    package let text: String

    /// A cursor that somebody hands back.
    package init(_ text: String) { self.text = text }

    /// A cursor behind an item.
    ///
    /// - Parameters:
    ///   - list: the list's name: letters, digits and `-`.
    ///   - fields: what the item is found by.
    package init(list: String, fields: [String]) {
        text = ([list] + fields.map { $0.utf8.map(Self.hexadecimal).joined() })
            .joined(separator: ".")
    }

    /// What the item is found by that the cursor is behind.
    ///
    /// - Throws: `UnusableCursor` for a text that this list has not given.
    package func fields(of list: String, count: Int) throws(UnusableCursor) -> [String] {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == count + 1, parts[0] == list else { throw UnusableCursor() }
        var fields: [String] = []
        for part in parts.dropFirst() {
            guard let bytes = Self.bytes(part), let field = String(validating: bytes, as: UTF8.self)
            else { throw UnusableCursor() }
            fields.append(field)
        }
        return fields
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for at in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[at], let low = digits[at + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// Somebody has handed in a cursor that the list, searched as it is now, has not given.
package struct UnusableCursor: Error, Equatable, CustomStringConvertible {
    package init() {}

    package var description: String {
        "the cursor is none that this list has given for this search; begin again without it"
    }
}
