import AssetStorage
import HTTP

/// Supplies the bytes of one answer, and reports once if they are not those that were stored.
final class AssetSource: StretchCheck, ByteMaker {
    private let reader: any AssetReader
    private let exchange: Exchange
    private let counters: AssetCounters

    init(reader: any AssetReader, exchange: Exchange, counters: AssetCounters) {
        self.reader = reader
        self.exchange = exchange
        self.counters = counters
    }

    /// The parts of an answer that a range is.
    func parts(_ range: Range<Int>, begun: [UInt8]) -> [StreamedBody.Part] {
        guard let descriptor = reader.descriptor else {
            return [
                .bytes(begun),
                .made(
                    self, offset: range.lowerBound + begun.count, count: range.count - begun.count),
            ]
        }
        return [
            .file(
                FileSlice(
                    descriptor: descriptor, owner: reader, offset: range.lowerBound,
                    count: range.count, check: self))
        ]
    }

    var partBytes: Int { AssetParts.byteCount }
    var fileBytes: Int { reader.byteCount }

    func isSound(_ stretch: Range<Int>) -> Bool {
        if reader.wasChecked(stretch) { return true }
        do {
            try reader.check(stretch)
            return true
        } catch {
            tell(error)
            return false
        }
    }

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        do { return try reader.read(at: offset, count: count) } catch {
            tell(error)
            throw error
        }
    }

    /// Called once: the connection ends with the failure.
    private func tell(_ failure: AssetFailure) {
        if case .damaged = failure { counters.change { $0.damaged += 1 } }
        exchange.breakOff(failure)
    }
}
