import CloudModel
import Dispatch
import Platform
import Synchronization

/// The clocks by which it is told whether a file was looked at since it was changed.
package struct FileClocks: Sendable {
    /// One that only goes on, in nanoseconds.
    package var passed: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    /// The one that files are dated by, in nanoseconds since 1970.
    package var date: @Sendable () -> Int64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    package init() {}
}

/// One file as it lies on the disk: a write to it makes it another.
struct FileState: Equatable {
    let device: UInt64
    let file: UInt64
    let byteCount: Int
    /// When it was last written to or moved, in nanoseconds since 1970.
    let changed: Int64

    init(_ descriptor: Int32) throws(AssetFailure) {
        let status = try AssetFiles.status(descriptor)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        file = UInt64(truncatingIfNeeded: status.st_ino)
        byteCount = Int(status.st_size)
        #if canImport(Glibc)
            let time = status.st_ctim
        #else
            let time = status.st_ctimespec
        #endif
        changed = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether it has been left alone so long that another change would show.
    ///
    /// The system's clock for files moves in steps of some milliseconds.
    func isSettled(at date: Int64) -> Bool { date - changed > 100_000_000 }
}

/// The sums of one file, and which of its parts were found sound a moment ago.
final class KnownFile: Sendable {
    private struct Sound {
        var state: FileState?
        /// A bit for each part.
        var parts: [UInt64] = []
        /// When the first of them was checked, in nanoseconds of a clock that only goes on.
        var since: UInt64 = 0
    }

    let sums: PartSums
    private let sound = Mutex(Sound())

    init(_ sums: PartSums) { self.sums = sums }

    /// Whether parts of a file were found sound, less than a moment ago and since it was changed.
    func wereSound(_ parts: Range<Int>, of state: FileState, now: UInt64) -> Bool {
        sound.withLock { sound in
            guard sound.state == state, now &- sound.since < Self.momentNanoseconds else {
                return false
            }
            return parts.allSatisfy { sound.parts[$0 >> 6] & 1 << UInt64($0 & 63) != 0 }
        }
    }

    /// Notes that a part was found sound.
    func note(_ part: Int, of state: FileState, now: UInt64) {
        sound.withLock { sound in
            if sound.state != state || now &- sound.since >= Self.momentNanoseconds {
                sound.state = state
                sound.since = now
                sound.parts = [UInt64](repeating: 0, count: (sums.sums.count + 63) / 64)
            }
            sound.parts[part >> 6] |= 1 << UInt64(part & 63)
        }
    }

    /// How long a part that was found sound is not looked at again.
    private static let momentNanoseconds: UInt64 = 1_000_000_000
}

/// The sums of files that were read lately.
///
/// They belong to the contents, so they stay true whatever becomes of the file.
final class KnownSums: Sendable {
    /// Of all files together: 4 MiB of sums, for 64 GiB of contents.
    private static let partsMax = 1_048_576
    private static let filesMax = 16_384

    private struct State {
        var files: [AssetDigest: KnownFile] = [:]
        var partCount = 0
    }

    private let state = Mutex(State())

    subscript(_ digest: AssetDigest) -> KnownFile? { state.withLock { $0.files[digest] } }

    /// Keeps a file's sums, unless somebody just did; when there are too many, the others are forgotten.
    func keep(_ sums: PartSums) -> KnownFile {
        state.withLock { state in
            if let known = state.files[sums.digest] { return known }
            let count = sums.sums.count
            if state.files.count >= Self.filesMax || state.partCount + count > Self.partsMax {
                state = State()
            }
            let file = KnownFile(sums)
            state.files[sums.digest] = file
            state.partCount += count
            return file
        }
    }

    func forget(_ digest: AssetDigest) {
        state.withLock { state in
            guard let file = state.files.removeValue(forKey: digest) else { return }
            state.partCount -= file.sums.sums.count
        }
    }
}
