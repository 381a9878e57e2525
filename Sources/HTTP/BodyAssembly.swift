/// The body of one request as it comes in.
final class BodyAssembly {
    private static let reservedBytesMax = 256 * 1024

    let head: RequestHead
    private var chunks: ChunkDecoder?
    private var remaining = 0
    private var body: [UInt8] = []
    private let inflater: Inflater?

    init(head: RequestHead) {
        self.head = head
        switch head.framing {
        case .none: break
        case .length(let length):
            remaining = length
            // Not more on the word of the client alone.
            body.reserveCapacity(min(length, Self.reservedBytesMax))
        case .chunked: chunks = ChunkDecoder()
        }
        inflater = head.isGzipped ? Inflater() : nil
    }

    /// Takes the bytes that belong to the body.
    ///
    /// - Returns: how many they were, and the body once it is whole.
    func feed(
        _ bytes: UnsafeRawBufferPointer, limits: WireLimits
    ) throws(WireFault) -> (usedCount: Int, body: [UInt8]?) {
        var position = 0
        if chunks == nil {
            let end = min(remaining, bytes.count)
            try take(UnsafeRawBufferPointer(rebasing: bytes[..<end]), limits)
            remaining -= end
            return (end, remaining == 0 ? try finish() : nil)
        }
        while true {
            let event = try chunks?.next(bytes, at: &position, limits: limits) ?? .end
            switch event {
            case .data(let range):
                try take(UnsafeRawBufferPointer(rebasing: bytes[range]), limits)
            case .needsMore: return (position, nil)
            case .end: return (position, try finish())
            }
        }
    }

    private func take(
        _ bytes: UnsafeRawBufferPointer, _ limits: WireLimits
    ) throws(WireFault) {
        if let inflater {
            try inflater.inflate(bytes, into: &body, outputBytesMax: limits.inflatedBodyBytesMax)
        } else {
            body.append(contentsOf: bytes)
        }
    }

    private func finish() throws(WireFault) -> [UInt8] {
        if let inflater, inflater.hasInput, !inflater.isFinished {
            throw .malformedGzip
        }
        let whole = body
        body = []
        return whole
    }
}
