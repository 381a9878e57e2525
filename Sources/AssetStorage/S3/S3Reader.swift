import CloudModel
import HTTPClient
import Synchronization

/// The bytes of one object, asked for in windows and read as they come.
///
/// Whoever reads on where the last piece ended gets the next bytes of the same answer; a break in the
/// middle is mended by asking for the rest.
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

    init(_ object: S3Object) { self.object = object }

    var byteCount: Int { object.byteCount }
    var descriptor: Int32? { nil }

    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        // As much as is handed on at a time, however much is asked for.
        try object.stored(at: offset, count: min(count, 262_144))
    }
}

/// Says why bytes stop coming, for those who send them can only end the connection.
final class ReportingReader: AssetReader {
    private let reader: any AssetReader
    private let report: @Sendable (AssetFailure) -> Void

    init(_ reader: any AssetReader, report: @escaping @Sendable (AssetFailure) -> Void) {
        self.reader = reader
        self.report = report
    }

    var byteCount: Int { reader.byteCount }
    var descriptor: Int32? { reader.descriptor }

    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        do throws(AssetFailure) {
            return try reader.read(at: offset, count: count)
        } catch {
            report(error)
            throw error
        }
    }
}
