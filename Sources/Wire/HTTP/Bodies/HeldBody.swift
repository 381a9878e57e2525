/// The body of one request as it comes in, under the budget.
///
/// Used by one thread after the other: by the event loop, and while `inflateQueued` runs by a worker
/// alone.
package final class HeldBody: @unchecked Sendable {
    // Unchecked: the connection sees to it that loop and worker take turns.

    /// What a stream of zlib's takes: its window and its state.
    private static let inflaterBytes = 48 * 1024
    /// Output of gzip that is made on an event loop; a worker makes what is beyond.
    static let loopOutputBytesMax = 64 * 1024
    private static let firstCapacity = 4 * 1024

    private let bodyOptions: BodyOptions
    private let limits: WireLimits
    private let charge: BodyCharge
    /// As the head says; nil where that is not known.
    private let lengthToCome: Int?
    private let inflater: Inflater?
    private var body: [UInt8] = []
    private var capacity = 0
    /// Bytes of the body so far, kept or not.
    private var byteCount = 0
    /// Compressed bytes that wait for a worker, in order.
    private var queue: [[UInt8]] = []
    /// The worker's turn has come for the rest of the body.
    private(set) var needsWorker = false
    /// A worker is at it.
    var isBusy = false
    /// All of it has come.
    var hasEnded = false

    /// - Parameter begin: called on any thread when the turn of a body that waits has come.
    /// - Throws: 503 where the budget has no room for it.
    package init(
        _ head: RequestHead, _ bodyOptions: BodyOptions, budget: BodyBudget, limits: WireLimits,
        begin: @escaping @Sendable () -> Void = {}
    ) throws(WireFault) {
        self.bodyOptions = bodyOptions
        self.limits = limits
        var turn: BodyTurns.Turn?
        if case .length(let length) = head.framing, !head.isGzipped {
            lengthToCome = length
            // Of others nobody knows yet that they are who they say.
            if case .caller = bodyOptions.owner, length > BodyTurns.bytesMin, bodyOptions.keeps {
                turn = budget.turns.turn(for: bodyOptions.owner, bytes: length, begin)
            }
        } else {
            lengthToCome = nil
        }
        charge = BodyCharge(budget, for: bodyOptions.owner, turn: turn)
        inflater = head.isGzipped ? Inflater() : nil
        if head.isGzipped, !charge.grow(by: Self.inflaterBytes) { throw .noBodyMemory }
    }

    /// Takes the next bytes as they came off the wire, or puts them in the queue for a worker.
    package func take(_ bytes: UnsafeRawBufferPointer) throws(WireFault) {
        guard let inflater else { return try append(bytes) }
        var rest = bytes
        if !needsWorker {
            let room = Self.loopOutputBytesMax - byteCount
            let used = try inflate(rest, inflater, outputBytes: room)
            rest = UnsafeRawBufferPointer(rebasing: rest[used...])
            needsWorker = !rest.isEmpty || inflater.hasMoreOutput
            if !needsWorker { return }
        }
        guard charge.grow(by: rest.count) else { throw .noBodyMemory }
        queue.append(Array(rest))
    }

    /// Whether nothing more is to be received until the caller's other bodies have been dealt with.
    var isWaiting: Bool { charge.turn?.isWaiting ?? false }

    /// Whether there is work for a worker.
    package var hasQueued: Bool { !queue.isEmpty }

    /// Inflates what is in the queue; on a worker.
    package func inflateQueued() -> WireFault? {
        let pieces = queue
        queue = []
        do throws(WireFault) {
            for piece in pieces {
                var fault: WireFault?
                piece.withUnsafeBytes { bytes in
                    do throws(WireFault) {
                        if let inflater { _ = try inflate(bytes, inflater, outputBytes: .max) }
                    } catch { fault = error }
                }
                charge.shrink(by: piece.count)
                if let fault { throw fault }
            }
            return nil
        } catch { return error }
    }

    /// The request with its body, once all has come.
    ///
    /// - Throws: 400 where the gzip stream is not whole.
    package func finish(_ request: HTTPRequest) throws(WireFault) -> HTTPRequest {
        if let inflater, inflater.hasInput, !inflater.isFinished { throw .malformedGzip }
        var request = request
        request.body = body
        request.bodyMemory = charge
        request.bodyWitness = bodyOptions.witness
        body = []
        return request
    }

    private func inflate(
        _ bytes: UnsafeRawBufferPointer, _ inflater: Inflater, outputBytes: Int
    ) throws(WireFault) -> Int {
        let limit = limits.inflatedBodyBytesMax
        return try inflater.inflate(bytes, outputBytes: outputBytes) { output throws(WireFault) in
            if output.count > limit - self.byteCount { throw .bodyTooLarge }
            try self.append(output)
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(WireFault) {
        byteCount += bytes.count
        bodyOptions.witness?.see(bytes)
        guard bodyOptions.keeps else { return }
        let wanted = body.count + bytes.count
        if wanted > capacity {
            // Room is taken for what has come and not on the word of the client alone.
            let larger = max(wanted, capacity * 2, Self.firstCapacity)
            let next = lengthToCome.map { max(wanted, min(larger, $0)) } ?? larger
            guard charge.grow(by: next - capacity) else { throw .noBodyMemory }
            capacity = next
            body.reserveCapacity(next)
        }
        body.append(contentsOf: bytes)
    }
}
