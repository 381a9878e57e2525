/// Where a piece of contents lies: in which pack, and where there.
struct PieceReference: Sendable, Equatable {
    static let digestBytes = 32

    /// Of the contents, as the key names them.
    let digest: [UInt8]
    let pack: String
    let offset: Int
    /// Bytes in the pack, with what sealing adds.
    let count: Int

    var stretch: Range<Int> { offset..<offset + count }
}

/// Lists of references as bytes: the packs' names, then each reference with its pack's number.
enum PieceList {
    static func encode(_ references: [PieceReference]) -> [UInt8] {
        var packs: [String] = []
        var numbers: [String: Int] = [:]
        for reference in references where numbers[reference.pack] == nil {
            numbers[reference.pack] = packs.count
            packs.append(reference.pack)
        }
        var bytes = ByteWriter()
        bytes.number(packs.count, bytes: 4)
        for pack in packs {
            bytes.number(pack.utf8.count, bytes: 1)
            bytes.bytes += Array(pack.utf8)
        }
        bytes.number(references.count, bytes: 4)
        for reference in references {
            bytes.bytes += reference.digest
            bytes.number(numbers[reference.pack] ?? 0, bytes: 4)
            bytes.number(reference.offset, bytes: 4)
            bytes.number(reference.count, bytes: 4)
        }
        return bytes.bytes
    }

    /// - Throws: `BackupFailure` for what is no list.
    static func decode(_ reader: inout ByteReader) throws(BackupFailure) -> [PieceReference] {
        var packs: [String] = []
        for _ in 0..<(try reader.number(bytes: 4)) {
            let length = try reader.number(bytes: 1)
            packs.append(String(decoding: try reader.take(length), as: UTF8.self))
        }
        var references: [PieceReference] = []
        for _ in 0..<(try reader.number(bytes: 4)) {
            let digest = Array(try reader.take(PieceReference.digestBytes))
            let pack = try reader.number(bytes: 4)
            guard packs.indices.contains(pack) else { throw .damaged("a list names no pack") }
            references.append(
                PieceReference(
                    digest: digest, pack: packs[pack], offset: try reader.number(bytes: 4),
                    count: try reader.number(bytes: 4)))
        }
        return references
    }
}

/// Appends numbers, the highest byte first.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func number(_ number: Int, bytes count: Int) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// Takes numbers and bytes off the front of bytes that may be anything.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func take(_ count: Int) throws(BackupFailure) -> ArraySlice<UInt8> {
        guard count >= 0, rest.count >= count else { throw .damaged("a list is cut short") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number(bytes count: Int) throws(BackupFailure) -> Int {
        let taken = try take(count)
        guard count < 8 || taken.first ?? 0 < 0x80 else { throw .damaged("a number is too large") }
        return taken.reduce(0) { $0 << 8 | Int($1) }
    }
}
