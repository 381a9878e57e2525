import CChecksum
import CloudModel

/// The CRC-32C of every 64 KiB of an asset's contents: by them a part is checked without the rest.
///
/// They tell decay, not malice: an attacker who can write to the file can write to these, too.
struct PartSums: Sendable, Equatable {
    static let partBytes = 65_536

    let digest: AssetDigest
    /// Of the contents.
    let byteCount: Int
    let sums: [UInt32]

    /// The numbers of the parts that a stretch touches.
    static func parts(of stretch: Range<Int>) -> Range<Int> {
        stretch.lowerBound / partBytes..<(stretch.upperBound + partBytes - 1) / partBytes
    }

    /// Where a part lies in the contents.
    func stretch(of part: Int) -> Range<Int> {
        part * Self.partBytes..<min((part + 1) * Self.partBytes, byteCount)
    }

    /// Whether bytes are those of a part, all of them.
    func holds(_ part: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        sums.indices.contains(part) && bytes.count == stretch(of: part).count
            && checksum_crc32c(0, bytes.baseAddress, bytes.count) == sums[part]
    }

    // MARK: - As they lie beside the file

    private static let magic = Array("LNSUMS01".utf8)
    private static let headBytes = 8 + AssetDigest.byteCount + 8

    /// How long the sums of contents of a length are when they are written down.
    static func encodedBytes(ofContents byteCount: Int) -> Int {
        headBytes + parts(of: 0..<byteCount).count * 4 + 4
    }

    /// `LNSUMS01`, the digest, the length (64 bits), a sum for each part and one over all of that (32
    /// bits each), big-endian.
    var encoded: [UInt8] {
        var bytes = Self.magic + digest.bytes
        bytes.reserveCapacity(Self.encodedBytes(ofContents: byteCount))
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: byteCount >> shift))
        }
        for sum in sums { Self.append(sum, to: &bytes) }
        Self.append(
            bytes.withUnsafeBytes { checksum_crc32c(0, $0.baseAddress, $0.count) }, to: &bytes)
        return bytes
    }

    init(digest: AssetDigest, byteCount: Int, sums: [UInt32]) {
        self.digest = digest
        self.byteCount = byteCount
        self.sums = sums
    }

    /// Reads what `encoded` has written; nil for anything else, and for another file's.
    init?(_ bytes: [UInt8], of digest: AssetDigest) {
        guard bytes.count >= Self.headBytes + 4, bytes.starts(with: Self.magic),
            bytes[8..<8 + AssetDigest.byteCount].elementsEqual(digest.bytes),
            let byteCount = Int(
                exactly: bytes[40..<48].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }),
            // What is longer has no file.
            byteCount < 1 << 50, bytes.count == Self.encodedBytes(ofContents: byteCount),
            Self.sum(bytes[(bytes.count - 4)...])
                == bytes.withUnsafeBytes({ checksum_crc32c(0, $0.baseAddress, $0.count - 4) })
        else { return nil }
        self.digest = digest
        self.byteCount = byteCount
        sums = stride(from: Self.headBytes, to: bytes.count - 4, by: 4).map {
            Self.sum(bytes[$0..<$0 + 4])
        }
    }

    private static func append(_ sum: UInt32, to bytes: inout [UInt8]) {
        for shift in stride(from: 24, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: sum >> UInt32(shift)))
        }
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Makes the sums of contents that come piece by piece.
struct PartSummer {
    private var sums: [UInt32] = []
    /// Of the part that is not whole yet.
    private var current: UInt32 = 0
    private var byteCount = 0

    /// Adds bytes at the end.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let room = PartSums.partBytes - byteCount % PartSums.partBytes
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(room))
            current = checksum_crc32c(current, piece.baseAddress, piece.count)
            byteCount += piece.count
            if byteCount % PartSums.partBytes == 0 { endPart() }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
        }
    }

    private mutating func endPart() {
        sums.append(current)
        current = 0
    }

    /// The sums of all that came.
    func finished(_ digest: AssetDigest) -> PartSums {
        var whole = self
        if byteCount % PartSums.partBytes != 0 { whole.endPart() }
        return PartSums(digest: digest, byteCount: byteCount, sums: whole.sums)
    }
}
