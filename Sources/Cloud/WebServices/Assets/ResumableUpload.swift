import AssetStorage
import CloudDatabase
import CloudModel

/// One asset that arrives in several requests (the tus protocol, 1.0).
///
/// Only the newest request adds to it. A client that asks again has lost its earlier request, even if that
/// connection still seems to be open.
final class ResumableUpload: @unchecked Sendable {
    // Unchecked: everything that changes is used on the queue alone.

    /// The result once all bytes have arrived.
    typealias Outcome = Result<AssetReceipt, any Error>

    private enum State {
        /// Begun by an earlier process; taken up when it is first asked for.
        case asleep(() throws -> ResumedAsset?)
        case open(any AssetUpload)
        /// The file is being put on disk; requests that ask in the meantime wait.
        case placing(waiting: [@Sendable (Outcome) -> Void])
        case over(Outcome)
    }

    /// The size of the whole, in bytes.
    ///
    /// For an upload that an earlier process began, it is known once somebody has asked for the offset.
    private(set) var length: Int
    let queue: AssetLine
    private let identity: [UInt8]
    private let use: ReceiveAsset
    private let counters: AssetCounters
    /// Called once, when no more bytes are expected.
    private let onOver: @Sendable () -> Void
    private var state: State
    private var offset = 0
    /// Counts the requests that have taken over the upload.
    private var turn = 0

    convenience init(
        _ upload: any AssetUpload, length: Int, identity: [UInt8], use: ReceiveAsset,
        queue: AssetLine, counters: AssetCounters, onOver: @escaping @Sendable () -> Void
    ) {
        self.init(
            .open(upload), length, identity, use, queue, counters, onOver)
    }

    /// One that an earlier process has begun.
    ///
    /// - Parameter resume: called once, on the queue.
    convenience init(
        resuming resume: @escaping () throws -> ResumedAsset?, identity: [UInt8], use: ReceiveAsset,
        queue: AssetLine, counters: AssetCounters, onOver: @escaping @Sendable () -> Void
    ) {
        self.init(.asleep(resume), 0, identity, use, queue, counters, onOver)
    }

    private init(
        _ state: State, _ length: Int, _ identity: [UInt8], _ use: ReceiveAsset,
        _ queue: AssetLine, _ counters: AssetCounters,
        _ onOver: @escaping @Sendable () -> Void
    ) {
        self.state = state
        self.length = length
        self.identity = identity
        self.use = use
        self.queue = queue
        self.counters = counters
        self.onOver = onOver
        counters.change { $0.uploadsActive += 1 }
    }

    /// Takes the upload over and returns how far it has come; the request before may add no more.
    ///
    /// On the queue.
    func takeOver() throws -> (offset: Int, turn: Int) {
        wake()
        if case .over(.failure(let error)) = state { throw error }
        turn += 1
        return (offset, turn)
    }

    /// Adds bytes at the end.
    ///
    /// On the queue.
    ///
    /// - Throws: `Fault` for a request whose turn is over, and for more bytes than were announced; what the
    ///   storage reports, and then the upload is over.
    func append(_ piece: [UInt8], turn: Int) throws {
        guard turn == self.turn else { throw Self.overtaken }
        guard case .open(let upload) = state, offset + piece.count <= length else {
            throw StatusFault(
                413, .badRequest("the upload has \(length) bytes (Upload-Length), and more came"))
        }
        do {
            try piece.withUnsafeBytes { try upload.append($0) }
        } catch {
            fail()
            throw error
        }
        offset += piece.count
        counters.change { $0.bytesReceived += piece.count }
        if offset == length { place(upload) }
    }

    /// Tells how far the upload is; when all its bytes have arrived, only once the file is on disk.
    ///
    /// On the queue.
    func settle(_ answer: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        guard case .open(let upload) = state else {
            return whenOver { [length] in answer($0.map { _ in length }) }
        }
        guard offset == length else { return answer(.success(offset)) }
        // An upload of no bytes: no request has added to it.
        place(upload)
        settle(answer)
    }

    /// Hands over the receipt when the file is on disk.
    ///
    /// On the queue.
    ///
    /// - Parameter answer: gets a `Fault` BAD_REQUEST while bytes are missing.
    func finished(_ answer: @escaping @Sendable (Outcome) -> Void) {
        wake()
        if case .open(let upload) = state {
            if offset == length {
                // The process that received the last byte ended before it placed the file.
                place(upload)
                return whenOver(answer)
            }
            return answer(
                .failure(
                    Fault.badRequest(
                        "\(offset) of \(length) bytes have come; send the others by PATCH")))
        }
        whenOver(answer)
    }

    /// Removes all traces of the upload.
    ///
    /// On the queue.
    func discard() {
        wake()
        guard case .open = state else { return }
        counters.change { $0.uploadsAborted += 1 }
        fail()
    }

    /// Ends the upload because a new one takes its place; removes what the storage has under its name.
    ///
    /// On the queue.
    func giveWay() {
        if case .asleep = state { lose() } else { discard() }
    }

    /// Goes on with an upload that an earlier process has left.
    private func wake() {
        guard case .asleep(let resume) = state else { return }
        // NB: what cannot be read counts as lost: the client sends it again.
        guard let found = try? resume() else { return lose() }
        state = .open(found.upload)
        length = found.byteCount
        offset = found.received
    }

    private func whenOver(_ answer: @escaping @Sendable (Outcome) -> Void) {
        switch state {
        case .asleep, .open: answer(.failure(Self.gone))
        case .placing(let waiting): state = .placing(waiting: waiting + [answer])
        case .over(let outcome): answer(outcome)
        }
    }

    private func place(_ upload: any AssetUpload) {
        state = .placing(waiting: [])
        onOver()
        use.run(upload, identity: identity) { outcome in
            self.queue.async { self.end(outcome) }
        }
    }

    private func end(_ outcome: Outcome) {
        guard case .placing(let waiting) = state else { return }
        // Whatever went wrong, later requests must send it again.
        state = .over(outcome.mapError { _ in Self.gone })
        counters.change {
            $0.uploadsActive -= 1
            if case .success = outcome { $0.uploadsFinished += 1 }
        }
        for answer in waiting { answer(outcome) }
    }

    private func fail() {
        guard case .open(let upload) = state else { return }
        upload.discard()
        lose()
    }

    private func lose() {
        state = .over(.failure(Self.gone))
        onOver()
        counters.change { $0.uploadsActive -= 1 }
    }

    static let gone = Fault(
        .notFound, "no such upload: it has ended, expired, or was lost; send it again")
    private static let overtaken = Fault(
        .conflict, "another request goes on with this upload; ask by HEAD how far it is")
}
