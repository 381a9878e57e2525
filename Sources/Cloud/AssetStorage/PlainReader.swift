import CloudModel

/// A file of this machine whose bytes are the contents.
final class PlainReader: AssetReader {
    let byteCount: Int
    private let file: OpenAssetFile
    private let digest: AssetDigest
    private let sums: SumFiles
    private let clocks: FileClocks

    init(
        _ file: OpenAssetFile, _ digest: AssetDigest, _ sums: SumFiles,
        _ clocks: FileClocks
    ) throws(AssetFailure) {
        self.file = file
        self.digest = digest
        self.sums = sums
        self.clocks = clocks
        byteCount = Int(try AssetFiles.status(file.descriptor).st_size)
    }

    var descriptor: Int32? { file.descriptor }

    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        return try AssetFiles.read(
            file.descriptor, at: offset, count: min(count, byteCount - offset))
    }

    func wasChecked(_ stretch: Range<Int>) -> Bool {
        guard let known = sums.remembered(digest),
            // NB: a file whose state cannot be read is checked, and that says why.
            let state = try? FileState(file.descriptor),
            state.byteCount == byteCount, known.sums.byteCount == byteCount
        else { return false }
        return known.wereSound(PartSums.parts(of: stretch), of: state, now: clocks.passed())
    }

    func check(_ stretch: Range<Int>) throws(AssetFailure) {
        let known = try sums.sums(of: digest, orFrom: self)
        let state = try FileState(file.descriptor)
        guard state.byteCount == byteCount, known.sums.byteCount == byteCount,
            stretch.upperBound <= byteCount
        else { throw .damaged(digest) }
        let isSettled = state.isSettled(at: clocks.date())
        let moment = clocks.passed()
        for part in PartSums.parts(of: stretch)
        where !known.wereSound(part..<part + 1, of: state, now: moment) {
            guard try isSound(part, known.sums) else { throw .damaged(digest) }
            if isSettled { known.note(part, of: state, now: moment) }
        }
    }

    private func isSound(_ part: Int, _ sums: PartSums) throws(AssetFailure) -> Bool {
        let stretch = sums.stretch(of: part)
        // NB: typed errors do not pass through the standard library's closures.
        let outcome = withUnsafeTemporaryAllocation(
            byteCount: PartSums.partBytes, alignment: 64
        ) { buffer -> Result<Bool, AssetFailure> in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(stretch.count))
            do throws(AssetFailure) {
                let got = try AssetFiles.read(
                    file.descriptor, at: stretch.lowerBound, into: bytes)
                return .success(got == bytes.count && sums.holds(part, .init(bytes)))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}
