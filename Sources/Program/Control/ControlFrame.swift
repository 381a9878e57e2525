/// What passes over the socket for commands after the command: files, each in pieces, how far it has come, what is asked of the caller,
/// then the answer.
package enum ControlFrame: Equatable {
    /// The files that follow are written below the folder that the caller has for them.
    case file(name: String)
    /// Further bytes of the file that began last.
    case piece([UInt8])
    /// How far the command has come, in a line for people.
    case progress(String)
    /// Something to do with the caller's files; they answer with a frame of their own.
    case request(CallerFileRequest)
    /// The last frame: a `CommandAnswer` as JSON.
    case answer([UInt8])

    /// Of one piece.
    static let pieceBytes = 262_144
    private static let fileMark = UInt8(ascii: "F")
    private static let pieceMark = UInt8(ascii: "P")
    private static let progressMark = UInt8(ascii: "T")
    private static let requestMark = UInt8(ascii: "Q")

    init(_ bytes: [UInt8]) {
        switch bytes.first {
        case Self.fileMark: self = .file(name: String(decoding: bytes.dropFirst(), as: UTF8.self))
        case Self.pieceMark: self = .piece(Array(bytes.dropFirst()))
        case Self.progressMark:
            self = .progress(String(decoding: bytes.dropFirst(), as: UTF8.self))
        case Self.requestMark:
            self = CallerFileRequest(bytes.dropFirst()).map(ControlFrame.request) ?? .answer(bytes)
        default: self = .answer(bytes)
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .file(let name): [Self.fileMark] + Array(name.utf8)
        case .piece(let bytes): [Self.pieceMark] + bytes
        case .progress(let text): [Self.progressMark] + Array(text.utf8)
        case .request(let request): [Self.requestMark] + request.bytes
        case .answer(let bytes): bytes
        }
    }
}
