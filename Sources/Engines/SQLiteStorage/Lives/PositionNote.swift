import Platform
import Storage

/// A few bytes in a file beside a store that say how far it had come when it last acknowledged a write.
///
/// Written after each commit and brought to the disk with checkpoints, so it is at most as far as the
/// store: where it is further, the store has lost what it had acknowledged. May be used from any thread.
package final class PositionNote: Sendable {
    /// What a note says.
    package struct Content: Equatable, Sendable {
        package let incarnation: Int64
        package let position: Position
    }

    private static let mark: Int64 = 0x4c65_6e74_506f_7331
    private static let byteCount = 32

    private let file: Int32
    private let incarnation: Int64

    /// Opens the note beside a store, or begins one; nil when that cannot be.
    ///
    /// NB: without it a store works as well; only a loss would not be told.
    init?(besideStore path: String, incarnation: Int64) {
        file = open(Self.path(besideStore: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        self.incarnation = incarnation
        if file < 0 { return nil }
    }

    deinit { if file >= 0 { close(file) } }

    static func path(besideStore path: String) -> String {
        let ending = ".sqlite"
        return (path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path) + ".position"
    }

    /// What the note beside a store says; nil when there is none that can be read.
    static func read(besideStore path: String) -> Content? {
        let file = open(Self.path(besideStore: path), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        guard pread(file, &bytes, byteCount, 0) == byteCount else { return nil }
        let numbers = (0..<4).map { at in
            bytes[(at * 8)..<(at * 8 + 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        guard numbers[0] == mark, numbers[3] == checksum(numbers[1], numbers[2]) else {
            return nil
        }
        return Content(incarnation: numbers[1], position: numbers[2])
    }

    static func remove(besideStore path: String) { unlink(Self.path(besideStore: path)) }

    func write(_ position: Position) {
        let numbers = [Self.mark, incarnation, position, Self.checksum(incarnation, position)]
            .map { $0.bigEndian }
        // NB: a note that is not written says less, and what it says stays true.
        _ = numbers.withUnsafeBytes { pwrite(file, $0.baseAddress, Self.byteCount, 0) }
    }

    /// Brings it to the disk.
    func synchronize() {
        // NB: as above.
        _ = fsync(file)
    }

    /// Tells half a write from a whole one.
    private static func checksum(_ incarnation: Int64, _ position: Position) -> Int64 {
        (incarnation &* 0x0000_0100_0000_01b3 ^ position) &* 0x0000_0100_0000_01b3 ^ mark
    }
}
