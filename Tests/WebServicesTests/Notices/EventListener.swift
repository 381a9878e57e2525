import Foundation
import HTTP
import JSON
import Synchronization

/// A page that stays at the courier as an event stream.
final class EventListener: @unchecked Sendable {
    // Unchecked: what has come is touched with the condition locked.
    struct Event {
        let id: String
        let notice: AnswerPart
    }

    let answer: Answer
    /// Whether each piece is confirmed at once, as by a client that reads.
    private let reads: Bool
    private let condition = NSCondition()
    private var text = ""
    private var pieces = 0
    private var hasEnded = false
    private var unconfirmed: OpenBody.WhenSent?

    /// - Parameters:
    ///   - id: the last event that the page has had.
    ///   - reads: false for a page that takes nothing until it is told to.
    init(_ listener: NoticeListener, after id: String? = nil, reads: Bool = true) throws {
        var headers = [(name: "Accept", value: "text/event-stream")]
        if let id { headers.append(("Last-Event-ID", id)) }
        let pending = listener.begin(headers: headers)
        let response = try pending.response.wait()
        answer = try Answer(response, requestID: pending.id)
        self.reads = reads
        text = answer.text
        guard let open = response.open else {
            hasEnded = true
            return
        }
        open.begin { [weak self] piece in
            guard let self else { return piece.whenSent(false) }
            take(piece)
        }
    }

    private func take(_ piece: OpenBody.Piece) {
        condition.lock()
        text += String(decoding: piece.bytes, as: UTF8.self)
        pieces += 1
        if piece.isLast { hasEnded = true }
        if !reads { unconfirmed = piece.whenSent }
        condition.broadcast()
        condition.unlock()
        if reads { piece.whenSent(true) }
    }

    /// Has the system take the piece that waits, or drops it with the connection.
    func confirm(_ isSent: Bool) throws {
        let confirm = try wait("a piece") { unconfirmed.take() }
        confirm(isSent)
    }

    /// How many pieces were sent after the answer's beginning.
    var pieceCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return pieces
    }

    /// All that has come, once it holds a text.
    @discardableResult
    func through(_ wanted: String) throws -> String {
        try wait(wanted) { text.contains(wanted) ? text : nil }
    }

    /// All that came, once the stream has ended.
    func toEnd() throws -> String { try wait("the end") { hasEnded ? text : nil } }

    /// The first events that have come, once there are so many.
    func events(_ count: Int) throws -> [Event] {
        try wait("\(count) events") {
            let found = Self.events(in: text)
            return found.count < count ? nil : found
        }
    }

    static func events(in text: String) -> [Event] {
        text.components(separatedBy: "\n\n").compactMap { block in
            let lines = block.split(separator: "\n")
            guard lines.count == 2, lines[0].hasPrefix("id: "), lines[1].hasPrefix("data: "),
                let document = try? JSONDocument(parsing: Array(lines[1].dropFirst(6).utf8))
            else { return nil }
            return Event(
                id: String(lines[0].dropFirst(4)), notice: AnswerPart(value: document.root))
        }
    }

    private func wait<Value>(_ what: String, _ look: () -> Value?) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: 60)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let found = look() { return found }
            guard condition.wait(until: deadline) else {
                throw WireFailure("waited for \(what) in vain; there was \(text)")
            }
        }
    }
}
