/// The bytes that the connections of one event loop keep because something is not finished: heads
/// without an end, requests that wait behind others, answers that nobody takes.
///
/// Over the limit, the connections that have kept something longest are ended. Clients that send
/// whole requests and take their answers keep nothing for long. On the loop's thread only.
final class WaitingBytes {
    /// Less than this is not counted: it is what honest clients keep for a moment.
    static let freeBytes = 1_024

    private struct Holder {
        let connection: HTTPConnection
        let number: UInt32
    }

    private let bytesMax: Int
    private(set) var total = 0
    /// In the order in which they began; some have ended since.
    private var holders: [Holder] = []
    private var first = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// Counts what a connection keeps now; may end others, or this one.
    func note(_ bytes: Int, of connection: HTTPConnection) {
        let counted = bytes > Self.freeBytes ? bytes : 0
        let before = Int(connection.waitingBytes)
        if counted == before { return }
        total += counted - before
        connection.waitingBytes = UInt32(clamping: counted)
        if counted == 0 || before == 0 { connection.waitingNumber &+= 1 }
        if before == 0 {
            compact()
            holders.append(Holder(connection: connection, number: connection.waitingNumber))
        }
        while total > bytesMax, first < holders.count { endFirst() }
    }

    private func endFirst() {
        let holder = holders[first]
        first += 1
        guard holder.connection.waitingNumber == holder.number else { return }
        holder.connection.endWaiting()
    }

    /// Forgets those that have ended, once they are as many as those that have not may be.
    private func compact() {
        guard holders.count == holders.capacity else { return }
        holders = holders[first...].filter { $0.connection.waitingNumber == $0.number }
        first = 0
        holders.reserveCapacity(max(64, holders.count * 2))
    }
}

extension HTTPConnection {
    /// Counts what this connection keeps.
    func noteWaiting() {
        guard leftover.capacity > 0 || pending != nil || waitingBytes > 0 else { return }
        let kept = phase == .closed ? 0 : leftover.capacity + (pending?.head.count ?? 0)
        shared.waiting.note(kept, of: self)
    }

    /// Gives up what is kept, to make room for others.
    func endWaiting() {
        switch phase {
        case .reading: refuse(.noHeadMemory)
        case .responding, .telling:
            // The current request still gets its answer.
            leftover = []
            flags.remove(.keepsAlive)
            noteWaiting()
        case .streaming, .writing, .lingering, .closed: close()
        }
    }
}
