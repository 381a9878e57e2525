import CloudModel
import HTTPClient
import Synchronization

/// The bytes of one object, asked for in windows and read as they come.
///
/// A caller who reads on where the last piece ended gets the next bytes of the same answer. When
/// the answer breaks off in the middle, the reader asks for the rest.
final class S3Object: StoredBytes {
    /// An answer that is being read.
    private struct Window {
        let response: ClientResponse
        /// Of the next byte.
        var position: Int
        let end: Int
    }

    let byteCount: Int
    private let bucket: S3Bucket
    private let key: String
    private let digest: AssetDigest
    private let tag: String?
    private let window = Mutex<Window?>(nil)

    init(_ bucket: S3Bucket, key: String, digest: AssetDigest, state: S3ObjectState) {
        self.bucket = bucket
        self.key = key
        self.digest = digest
        byteCount = state.byteCount
        tag = state.tag
    }

    func stored(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        let wanted = min(count, byteCount - offset)
        return try window.withLock { window throws(AssetFailure) -> [UInt8] in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(wanted)
            var failureCount = 0
            while bytes.count < wanted {
                let position = offset + bytes.count
                if window?.position != position { window = try open(at: position) }
                do throws(ClientFailure) {
                    bytes += try Self.read(wanted - bytes.count, from: &window)
                    failureCount = 0
                } catch {
                    window = nil
                    failureCount += 1
                    guard failureCount < bucket.options.attemptsMax else {
                        throw .unavailable(call: "S3 GET", reason: "\(error)")
                    }
                    bucket.pause(after: failureCount)
                }
            }
            return bytes
        }
    }

    private func open(at position: Int) throws(AssetFailure) -> Window {
        let end = min(byteCount, position + bucket.options.windowBytes)
        guard let response = try bucket.read(key, position..<end, tag: tag) else {
            // Sealed anew by an equal upload, or removed: another look at it tells.
            throw .unavailable(call: "S3 GET", reason: "\(digest.hexadecimal) has gone or changed")
        }
        return Window(response: response, position: position, end: end)
    }

    /// The next bytes of a window, which is given up at its end.
    private static func read(
        _ count: Int, from window: inout Window?
    ) throws(ClientFailure) -> [UInt8] {
        guard var open = window else { return [] }
        let piece = try open.response.read(upTo: min(count, open.end - open.position))
        guard !piece.isEmpty else { throw .broken("ended within the body") }
        open.position += piece.count
        window = open
        if open.position == open.end {
            window = nil
            // The answer's end, by which the connection is good for the next window.
            _ = try open.response.readAll(bytesMax: 0)
        }
        return piece
    }
}

/// An object whose bytes are the contents.
final class S3PlainReader: AssetReader {
    private let object: S3Object
    private let digest: AssetDigest
    private let sums: SumFiles
    /// What is handed out is held against; nil until it was asked for.
    private let known = Mutex<KnownFile?>(nil)

    init(_ object: S3Object, _ digest: AssetDigest, _ sums: SumFiles) {
        self.object = object
        self.digest = digest
        self.sums = sums
    }

    var byteCount: Int { object.byteCount }
    var descriptor: Int32? { nil }

    func wasChecked(_ stretch: Range<Int>) -> Bool { false }

    func check(_ stretch: Range<Int>) throws(AssetFailure) {
        let file = try sums.sums(of: digest, orFrom: self)
        guard file.sums.byteCount == byteCount else { throw .damaged(digest) }
        known.withLock { $0 = file }
    }

    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        // As much as is handed on at a time, however much is asked for.
        let wanted = min(count, Self.pieceBytes, byteCount - offset)
        guard let sums = known.withLock({ $0 })?.sums else {
            return try object.stored(at: offset, count: wanted)
        }
        // To the end of a part, so that the next read begins with a whole one.
        let aligned = (offset + wanted) / PartSums.partBytes * PartSums.partBytes
        let end = aligned > offset ? aligned : offset + wanted
        let parts = PartSums.parts(of: offset..<end)
        let start = parts.lowerBound * PartSums.partBytes
        let bytes = try object.stored(
            at: start, count: sums.stretch(of: parts.upperBound - 1).upperBound - start)
        for part in parts {
            let stretch = sums.stretch(of: part)
            guard stretch.upperBound - start <= bytes.count,
                bytes[(stretch.lowerBound - start)..<(stretch.upperBound - start)]
                    .withUnsafeBytes({ sums.holds(part, $0) })
            else { throw .damaged(digest) }
        }
        return offset == start && end - start == bytes.count
            ? bytes : Array(bytes[(offset - start)..<(end - start)])
    }

    private static let pieceBytes = 4 * PartSums.partBytes
}
