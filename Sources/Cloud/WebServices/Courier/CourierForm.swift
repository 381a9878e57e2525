import HTTP
import Storage

/// How a client receives its notices.
struct CourierForm: Sendable {
    /// Whether it takes them as Server-Sent Events.
    let isStream: Bool
    /// The last notice that the client has received.
    let seen: NoticeNumber

    init(_ request: HTTPRequest) {
        isStream = request.headers["accept"]?.contains("text/event-stream") ?? false
        let last = isStream ? request.headers["last-event-id"].flatMap { Int64($0) } : nil
        seen = NoticeNumber(max(0, last ?? 0))
    }
}

/// The bytes of Server-Sent Events (HTML Living Standard §9.2).
enum CourierEvents {
    static let contentType = "text/event-stream"

    /// A line that clients skip, by which each side learns that the other is still there.
    static let comment = Array(":\n\n".utf8)

    /// Has browsers come back after a second, when an event stream ends without being told to.
    static let begin = Array("retry: 1000\n\n".utf8)

    /// Has browsers come back at once, to say what they have received.
    static let comeBack = Array("retry: 10\n\n".utf8)

    static func append(_ notices: [StoredNotice], to body: inout [UInt8]) {
        for notice in notices {
            body += Array("id: \(notice.number.value)\ndata: ".utf8)
            body += notice.payload
            body += Array("\n\n".utf8)
        }
    }
}
