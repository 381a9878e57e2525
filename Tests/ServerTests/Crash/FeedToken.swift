import Foundation

/// A zone's `syncToken`, with the place that it names.
///
/// Clients must not look inside; this test does, to see that no place is ever behind an earlier one.
struct FeedToken: Equatable {
    enum Cursor: Equatable {
        case none
        case first(through: Int64)
        case reverse(before: Int64, until: Int64)
    }

    let text: String
    let zone: Int64
    let position: Int64
    let cursor: Cursor

    /// For histories made by hand.
    init(zone: Int64, position: Int64, cursor: Cursor = .none) {
        text = ""
        self.zone = zone
        self.position = position
        self.cursor = cursor
    }

    /// Nil for a text of another form than tokens have.
    init?(_ text: String) {
        guard let data = Data(base64Encoded: text), data.count == 92, data[0] == 1 else {
            return nil
        }
        func number(_ start: Int) -> Int64 {
            data[start..<(start + 8)].reduce(0) { $0 << 8 | Int64($1) }
        }
        self.text = text
        zone = number(27)
        position = number(43)
        switch data[51] {
        case 0: cursor = .none
        case 1: cursor = .first(through: number(52))
        case 2: cursor = .reverse(before: number(52), until: number(60))
        default: return nil
        }
    }

    /// Whether everything up to the position is known to its holder.
    var isComplete: Bool { cursor == .none }
}
