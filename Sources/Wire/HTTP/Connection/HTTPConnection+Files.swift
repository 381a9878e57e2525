import Network

/// How far a streamed body has been sent.
///
/// On its loop's thread only.
final class StreamCursor {
    private(set) var parts: ArraySlice<StreamedBody.Part>
    /// Of the first part, in bytes.
    private(set) var offset = 0
    /// Nothing of it has been tried yet.
    var isFresh = true
    /// A worker is at it.
    var isFetching = false
    /// The last stretch that was found in memory or brought there ends here.
    var residentEnd = 0

    /// Whose turn it is when a worker is needed.
    let client: AddressBlock?

    init(_ body: StreamedBody, for client: AddressBlock?) {
        parts = body.parts[...]
        self.client = client
    }

    /// Moves on by bytes of the first part.
    func advance(_ count: Int) {
        offset += count
        while let part = parts.first, offset >= part.byteCount {
            offset -= part.byteCount
            parts = parts.dropFirst()
            residentEnd = 0
        }
    }
}

// Answers that are sent from files.
extension HTTPConnection {
    /// What one look at the page cache, one read of a worker and one piece is about.
    private static let stretchBytes = 256 * 1024
    /// What one turn of the loop sends, so that none takes long.
    private static let turnBytes = 512 * 1024

    /// Sends what goes at once of a body that has just begun.
    func sendFreshStream() {
        pending?.stream?.isFresh = false
        guard sendPending() else { return }
        dropPending()
        phase = .reading
        // Not at once: a chain of answers must not become a chain of calls.
        if !leftover.isEmpty { shared.events.post { self.resume() } }
    }

    /// Sends from a cursor until the socket takes no more, it must wait for a disk, or the turn is
    /// over.
    ///
    /// True once everything has gone.
    func sendStream(_ cursor: StreamCursor) -> Bool {
        cursor.isFresh = false
        var left = Self.turnBytes
        while left > 0, let part = cursor.parts.first {
            let outcome: CallOutcome
            switch part {
            case .bytes(let bytes):
                outcome = bytes.withUnsafeBytes {
                    transmit(
                        UnsafeRawBufferPointer(rebasing: $0[cursor.offset...]),
                        UnsafeRawBufferPointer(start: nil, count: 0),
                        hasMore: cursor.parts.count > 1)
                }
            case .file(let slice):
                let stretch = Self.nextStretch(of: slice, cursor)
                guard isResident(slice, stretch, cursor) else {
                    fetch(slice, stretch, cursor)
                    return false
                }
                guard slice.check?.isSound(stretch) ?? true else {
                    close()
                    return false
                }
                outcome = send(slice, at: stretch.lowerBound, stretch.count)
            case .made(let maker, let offset, let count):
                make(maker, offset + cursor.offset, count - cursor.offset, cursor)
                return false
            }
            switch outcome {
            case .wouldBlock: return false
            case .failed, .done(0):
                // The file has become shorter: the answer cannot be completed.
                close()
                return false
            case .done(let count):
                noteProgress(count)
                cursor.advance(count)
                left -= count
            }
        }
        return cursor.parts.isEmpty && hasSentAll
    }

    /// What is sent next of a file: first what is in memory, and to where a part ends.
    private static func nextStretch(of slice: FileSlice, _ cursor: StreamCursor) -> Range<Int> {
        let start = slice.offset + cursor.offset
        let end = slice.offset + slice.count
        if start < cursor.residentEnd { return start..<min(end, cursor.residentEnd) }
        guard end - start > stretchBytes else { return start..<end }
        let most = start + stretchBytes
        return start..<most - most % (slice.check?.partBytes ?? 1)
    }

    /// Whether a stretch, with all that is looked at for it, may be read on the loop's thread.
    private func isResident(
        _ slice: FileSlice, _ stretch: Range<Int>, _ cursor: StreamCursor
    ) -> Bool {
        if stretch.upperBound <= cursor.residentEnd { return true }
        let reach = slice.check?.reach(of: stretch) ?? stretch
        guard
            FileRead.isResident(
                slice.descriptor, offset: reach.lowerBound, count: reach.count)
        else { return false }
        cursor.residentEnd = stretch.upperBound
        return true
    }

    private func send(_ slice: FileSlice, at offset: Int, _ count: Int) -> CallOutcome {
        if tls == nil {
            let outcome = socket.send(file: slice.descriptor, offset: offset, count: count)
            if case .done(let sent) = outcome {
                WireCounters.add(sent, to: shared.counters.bytesOut)
            }
            return outcome
        }
        // Encrypted bytes that the socket has not taken go first: what is read would only wait.
        if !hasSentAll {
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            if case .failed(let error) = transmit(none, none) { return .failed(error) }
            guard hasSentAll else { return .wouldBlock }
        }
        let buffer = UnsafeMutableRawBufferPointer(
            rebasing: shared.plainBuffer.prefix(min(count, ConnectionLoop.readBytes)))
        let outcome = FileRead.read(slice.descriptor, offset: offset, into: buffer)
        guard case .done(let got) = outcome, got > 0 else { return outcome }
        return transmit(
            UnsafeRawBufferPointer(rebasing: buffer[..<got]),
            UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Lets a worker bring a stretch of a file into memory.
    private func fetch(_ slice: FileSlice, _ stretch: Range<Int>, _ cursor: StreamCursor) {
        let request = wait(for: cursor)
        shared.files.run(for: cursor.client) {
            let isThere =
                Self.touch(slice, at: stretch.lowerBound, stretch.count)
                && slice.check?.isSound(stretch) ?? true
            self.shared.events.post {
                self.fetched(
                    isThere ? [] : nil, residentEnd: stretch.upperBound, of: request)
            }
        }
    }

    /// Reads a stretch for the sake of the page cache; false when the file does not give it.
    private static func touch(_ slice: FileSlice, at start: Int, _ count: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { buffer in
            var done = 0
            while done < count {
                let piece = UnsafeMutableRawBufferPointer(
                    rebasing: buffer.prefix(min(buffer.count, count - done)))
                guard
                    case .done(let got) = FileRead.read(
                        slice.descriptor, offset: start + done, into: piece), got > 0
                else { return false }
                done += got
            }
            return true
        }
    }

    /// Lets a worker make the next bytes.
    private func make(
        _ maker: any ByteMaker, _ offset: Int, _ count: Int, _ cursor: StreamCursor
    ) {
        let request = wait(for: cursor)
        shared.files.run(for: cursor.client) {
            // NB: the maker of the bytes reports the failure; here it only ends the connection.
            let made = try? maker.bytes(at: offset, count: min(count, Self.stretchBytes))
            let piece = made?.isEmpty ?? true ? nil : made
            self.shared.events.post { self.fetched(piece, residentEnd: 0, of: request) }
        }
    }

    /// - Returns: the number of the request, which has one worker at most.
    private func wait(for cursor: StreamCursor) -> UInt32 {
        cursor.isFetching = true
        // This time does not count against the client.
        deadline = .max
        watch([])
        return requestNumber
    }

    /// A worker is done: without bytes of its own, with those to be sent next, or (nil) in vain.
    private func fetched(_ piece: [UInt8]?, residentEnd: Int, of request: UInt32) {
        guard phase == .writing, request == requestNumber, let cursor = pending?.stream,
            cursor.isFetching
        else { return }
        cursor.isFetching = false
        // Even when it has left memory again: waiting once more would have no end.
        cursor.residentEnd = residentEnd
        guard let piece else {
            close()
            return
        }
        if !piece.isEmpty {
            pending = PendingOutput(
                head: piece, body: [], sentCount: 0, rest: nil, stream: cursor)
            cursor.advance(piece.count)
        }
        setDeadline(shared.limits.answerSecondsMax)
        watch(.writable)
        if phase == .writing { flushPending() }
    }
}
