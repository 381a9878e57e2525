import Cryptography

/// Gathers pieces in packs of some megabytes, each an object; used by one thread.
///
/// What it gives out refers to objects that are there only once `finish` has returned.
final class PackWriter {
    static let prefix = "packs/"
    private static let bytesMax = 16_777_216

    private let objects: any BackupObjects
    private let key: BackupKey
    private let run: String
    private var number = 0
    private var bytes: [UInt8] = []
    private(set) var writtenBytes = 0

    /// - Parameter run: begins the names of all packs; no other run has the same.
    init(_ objects: any BackupObjects, _ key: BackupKey, run: String) {
        self.objects = objects
        self.key = key
        self.run = run
    }

    private var pack: String { "\(run)-\(number)" }

    func add(_ contents: [UInt8], _ digest: [UInt8]) throws -> PieceReference {
        let sealed = try key.seal(contents, as: digest)
        if !bytes.isEmpty, bytes.count + sealed.count > Self.bytesMax { try finish() }
        let reference = PieceReference(
            digest: digest, pack: pack, offset: bytes.count, count: sealed.count)
        bytes += sealed
        return reference
    }

    /// Brings to its object what has been gathered.
    func finish() throws {
        guard !bytes.isEmpty else { return }
        try objects.put(Self.prefix + pack, bytes)
        writtenBytes += bytes.count
        bytes = []
        number += 1
    }
}

/// Reads pieces out of packs, neighbours by one request.
struct PackReader {
    private static let requestBytesMax = 4_194_304

    let objects: any BackupObjects
    let key: BackupKey
    /// Asked before each request; false ends the work.
    var goesOn: @Sendable () -> Bool = { true }

    /// The contents of pieces, one after the other; each is what its digest says.
    ///
    /// - Throws: `BackupFailure` for a piece that is not there or not what was stored, and whatever `visit` throws.
    func read(_ references: [PieceReference], _ visit: ([UInt8]) throws -> Void) throws {
        var rest = references[...]
        while let first = rest.first {
            var end = first.stretch.upperBound
            let together = rest.prefix { reference in
                let follows =
                    reference == first
                    || reference.pack == first.pack && reference.offset == end
                        && reference.stretch.upperBound - first.offset <= Self.requestBytesMax
                if follows { end = reference.stretch.upperBound }
                return follows
            }
            try read(Array(together), first.offset..<end, of: first.pack, visit)
            rest = rest.dropFirst(together.count)
        }
    }

    func contents(_ reference: PieceReference) throws -> [UInt8] {
        var contents: [UInt8] = []
        try read([reference]) { contents = $0 }
        return contents
    }

    private func read(
        _ references: [PieceReference], _ stretch: Range<Int>, of pack: String,
        _ visit: ([UInt8]) throws -> Void
    ) throws {
        guard goesOn() else { throw BackupFailure.stopped }
        guard let bytes = try objects.read(PackWriter.prefix + pack, stretch) else {
            throw BackupFailure.damaged("pack \(pack) is missing")
        }
        for reference in references {
            let from = reference.offset - stretch.lowerBound
            let sealed = bytes[from..<from + reference.count]
            guard let contents = key.open(sealed, as: reference.digest),
                key.digest(contents) == reference.digest
            else { throw BackupFailure.damaged("pack \(pack) at \(reference.offset)") }
            try visit(contents)
        }
    }
}
