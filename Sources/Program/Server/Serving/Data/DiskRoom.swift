import CloudModel
import Configuration
import Files

/// How much room the disk of a data folder has.
struct DiskRoom: Sendable, Equatable {
    enum Level: Int, Sendable, Comparable {
        case enough
        /// It is time to do something.
        case low
        /// Uploads are refused, and writes will be.
        case used

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Less than a tenth of the disk is low, but for so much, which is enough on any.
    private static let freeTenths = 10
    private static let plentyBytes = 53_687_091_200

    let freeBytes: Int
    let diskBytes: Int
    /// What the server leaves to others and to its own deletions.
    let floorBytes: Int

    init(freeBytes: Int, diskBytes: Int, floorBytes: Int) {
        self.freeBytes = freeBytes
        self.diskBytes = diskBytes
        self.floorBytes = floorBytes
    }

    /// - Throws: `FileSystemFailure`.
    init(of folder: String, _ configuration: ServerConfiguration) throws {
        self.init(
            freeBytes: try FileSystem.freeBytes(at: folder),
            diskBytes: try FileSystem.diskBytes(at: folder),
            floorBytes: configuration.assets.freeBytesMin + configuration.storage.reserveBytes)
    }

    var level: Level {
        if freeBytes <= floorBytes { return .used }
        if freeBytes <= 2 * floorBytes { return .low }
        return freeBytes < min(diskBytes / Self.freeTenths, Self.plentyBytes) ? .low : .enough
    }
}

/// When a disk that fills as it did in the last hours will be full.
struct DiskForecast {
    private static let hour: Milliseconds = 3_600_000
    private static let hoursKept = 24

    private var samples: [(moment: Milliseconds, freeBytes: Int)] = []

    /// Notes how much is free, once an hour.
    mutating func note(freeBytes: Int, at moment: Milliseconds) {
        if let last = samples.last, moment - last.moment < Self.hour, moment >= last.moment {
            return
        }
        // A clock that was set back makes what was noted worthless.
        if let last = samples.last, moment < last.moment { samples = [] }
        samples.append((moment, freeBytes))
        if samples.count > Self.hoursKept { samples.removeFirst() }
    }

    /// Hours until there is no more room than a floor; nil where nobody can tell, or it does not fill.
    func hoursLeft(freeBytes: Int, floorBytes: Int, at moment: Milliseconds) -> Int? {
        guard let first = samples.first, moment - first.moment >= Self.hour,
            first.freeBytes > freeBytes
        else { return nil }
        let perHour =
            Double(first.freeBytes - freeBytes) * Double(Self.hour)
            / Double(moment - first.moment)
        let hours = Double(max(0, freeBytes - floorBytes)) / perHour
        return hours < 1e9 ? Int(hours) : nil
    }
}
