extension CallerFileRequest {
    private static let sizeMark = UInt8(ascii: "s")
    private static let readMark = UInt8(ascii: "r")
    private static let writeMark = UInt8(ascii: "w")
    private static let finishMark = UInt8(ascii: "f")
    private static let printMark = UInt8(ascii: "p")
    /// Of the mark, the number and the length of the name.
    private static let headBytes = 11

    /// A mark, a number of 8 bytes, the name with its length in 2, and bytes; numbers begin with the most significant
    /// byte.
    var bytes: [UInt8] {
        switch self {
        case .size(let name): Self.frame(Self.sizeMark, 0, name)
        case .read(let name, let offset, let count):
            Self.frame(Self.readMark, offset, name, Self.number(Int64(count)))
        case .write(let name, let offset, let bytes):
            Self.frame(Self.writeMark, offset, name, bytes)
        case .finish(let name, let size): Self.frame(Self.finishMark, size, name)
        case .print(let bytes): Self.frame(Self.printMark, 0, "", bytes)
        }
    }

    /// Nil when it is none.
    init?(_ frame: some Collection<UInt8>) {
        let frame = Array(frame)
        guard frame.count >= Self.headBytes else { return nil }
        let value = Self.value(frame[1..<9])
        let nameEnd = Self.headBytes + Int(Self.value(frame[9..<11]))
        guard nameEnd <= frame.count, value >= 0,
            let name = String(validating: frame[Self.headBytes..<nameEnd], as: UTF8.self)
        else { return nil }
        let rest = frame[nameEnd...]
        switch frame[0] {
        case Self.sizeMark: self = .size(of: name)
        case Self.readMark where rest.count == 8:
            guard let count = Int(exactly: Self.value(rest)), count >= 0 else { return nil }
            self = .read(name, at: value, countMax: min(count, ControlFrame.pieceBytes))
        case Self.writeMark: self = .write(name, at: value, Array(rest))
        case Self.finishMark: self = .finish(name, size: value)
        case Self.printMark: self = .print(Array(rest))
        default: return nil
        }
    }

    private static func frame(
        _ mark: UInt8, _ value: Int64, _ name: String, _ rest: [UInt8] = []
    ) -> [UInt8] {
        let text = Array(name.utf8)
        return [mark] + number(value) + number(Int64(text.count), bytes: 2) + text + rest
    }

    /// The most significant byte first.
    package static func number(_ value: Int64, bytes count: Int = 8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private static func value(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// What the caller answers: a byte that says whether it was done, then bytes, or why not.
enum CallerFileReply {
    private static let done: UInt8 = 0
    private static let failed: UInt8 = 1

    static func frame(to request: CallerFileRequest, for files: (any CallerFiles)?) -> [UInt8] {
        do throws(CommandFailure) {
            guard let files else { throw CommandFailure("the command has no files here") }
            return [done] + (try files.answer(request))
        } catch {
            return [failed] + Array(error.description.utf8)
        }
    }

    static func bytes(of frame: [UInt8]) throws(CommandFailure) -> [UInt8] {
        guard let mark = frame.first else { throw CommandFailure("the caller sent no answer") }
        let rest = Array(frame.dropFirst())
        guard mark == done else { throw CommandFailure(String(decoding: rest, as: UTF8.self)) }
        return rest
    }
}
