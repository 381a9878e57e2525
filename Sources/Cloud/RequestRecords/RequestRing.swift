import CloudModel
import Files
import Synchronization

/// The lines of requests that a data folder keeps, in segments: the oldest goes when there are too many bytes, or when
/// its lines are too old.
///
/// One thread appends; any may search.
package final class RequestRing: RequestStorage {
    struct State {
        /// Numbers of full segments, in their order, with their bytes.
        var full: [(number: UInt64, bytes: Int, last: Milliseconds)] = []
        var active: SegmentWriter?
        var activeNumber: UInt64 = 0
    }

    let folder: String
    private let limits: RequestLimits
    let state: Mutex<State>
    package let storesAllOrNone = false

    private static let dayMilliseconds: Milliseconds = 86_400_000

    /// A segment is full with so many bytes.
    private var segmentBytesMax: Int { min(max(limits.bytesMax / 16, 65_536), 32 << 20) }

    /// Opens a ring, or makes one; finishes what a crash has left.
    ///
    /// Files that are no segments stay as they are, and are not read.
    /// - Throws: `FileSystemFailure`.
    package init(_ folder: String, _ limits: RequestLimits) throws(FileSystemFailure) {
        self.folder = folder
        self.limits = limits
        try FileSystem.makeFolder(folder)
        var state = State()
        var torn: [UInt64] = []
        try Self.finishErasing(in: folder)
        for name in try FileSystem.names(in: folder).sorted() {
            guard let number = Self.number(of: name) else { continue }
            if let segment = Segment(full: "\(folder)/\(name)") {
                let bytes = Int(FileSystem.size(of: "\(folder)/\(name)"))
                state.full.append((number, bytes, segment.times.last))
            } else {
                torn.append(number)
            }
            state.activeNumber = max(state.activeNumber, number)
        }
        for number in torn {
            let path = Self.path(number, in: folder)
            guard let writer = try SegmentWriter(goingOnWith: path) else { continue }
            if number == state.activeNumber {
                state.active = writer
            } else {
                try writer.seal()
                state.full.append((number, writer.byteCount, writer.index.last))
            }
        }
        state.full.sort { $0.number < $1.number }
        self.state = Mutex(state)
    }

    /// Appends lines; when this returns, the system has them, and they are on the disk soon after.
    ///
    /// Called by one thread. Blocks.
    /// - Throws: `FileSystemFailure`; then some of the lines are lost, and the next call goes on.
    package func append(
        _ lines: WaitingLines, now: Milliseconds
    ) throws(FileSystemFailure) {
        guard lines.count > 0 else { return }
        try state.withLock { state throws(FileSystemFailure) in
            do throws(FileSystemFailure) {
                try sealIfFull(&state, now)
                try writer(in: &state, now).append(lines)
                try sealIfFull(&state, now)
            } catch {
                // The next call finds out what has come to the file.
                state.active = nil
                throw error
            }
        }
    }

    private func writer(
        in state: inout State, _ now: Milliseconds
    ) throws(FileSystemFailure) -> SegmentWriter {
        if let active = state.active { return active }
        let path = Self.path(state.activeNumber, in: folder)
        if state.activeNumber > 0, state.full.last?.number != state.activeNumber,
            let writer = try SegmentWriter(goingOnWith: path)
        {
            state.active = writer
            return writer
        }
        state.activeNumber += 1
        let writer = try SegmentWriter(new: Self.path(state.activeNumber, in: folder), base: now)
        state.active = writer
        return writer
    }

    private func sealIfFull(
        _ state: inout State, _ now: Milliseconds
    ) throws(FileSystemFailure) {
        guard let active = state.active else { return }
        let isOld = now &- active.index.base > Self.dayMilliseconds
        if active.byteCount >= segmentBytesMax || isOld {
            try seal(&state)
        }
        removeOld(&state, now)
    }

    func seal(_ state: inout State) throws(FileSystemFailure) {
        guard let active = state.active else { return }
        try active.seal()
        state.full.append((state.activeNumber, active.byteCount, active.index.last))
        state.active = nil
    }

    /// Removes segments that are too old, and the oldest while there are too many bytes.
    private func removeOld(_ state: inout State, _ now: Milliseconds) {
        let oldest = limits.oldest(at: now)
        var bytes = state.full.reduce(0) { $0 + $1.bytes } + (state.active?.byteCount ?? 0)
        while let first = state.full.first, bytes > limits.bytesMax || first.last < oldest {
            FileSystem.removeFile(Self.path(first.number, in: folder))
            bytes -= first.bytes
            state.full.removeFirst()
        }
    }

    package var byteCount: Int {
        state.withLock { $0.full.reduce(0) { $0 + $1.bytes } + ($0.active?.byteCount ?? 0) }
    }

    package func newest(
        _ filter: RequestFilter,
        _ body: (RequestLocation, RequestEntry) throws -> Bool
    ) rethrows {
        let (full, active) = state.withLock { state in
            (
                state.full.reversed().filter { $0.last >= filter.since }.map(\.number),
                state.active.map { (state.activeNumber, $0.path, $0.index) }
            )
        }
        if let (number, path, index) = active, let segment = Segment(path, index),
            try !segment.visit(filter, as: number, body)
        {
            return
        }
        for number in full {
            if let before = filter.before, number > before.segment { continue }
            if let after = filter.after, number < after.segment { return }
            // One that has gone meanwhile was too old.
            guard let segment = Segment(full: Self.path(number, in: folder)) else { continue }
            guard try segment.visit(filter, as: number, body) else { return }
        }
    }

    static let suffix = ".requests"
    static let erasingSuffix = ".erasing"
    static let newSuffix = ".new"

    static func path(_ number: UInt64, in folder: String) -> String {
        let digits = String(number)
        return "\(folder)/\(String(repeating: "0", count: max(0, 10 - digits.count)))\(digits)"
            + suffix
    }

    private static func number(of name: String) -> UInt64? {
        name.hasSuffix(suffix) ? UInt64(name.dropLast(suffix.count)) : nil
    }
}
