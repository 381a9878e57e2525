import HTTP

/// Runs a parser over bytes as a connection does, and writes down what comes out.
struct ParserHarness {
    var limits = WireLimits()
    /// Whether all bodies come in pieces, which are joined again here.
    var streams = false

    /// The events of the whole input, cut into pieces at the positions given.
    func events(_ bytes: [UInt8], cutAt cuts: [Int] = []) -> [String] {
        var parser = RequestParser()
        var kept: [UInt8] = []
        var events: [String] = []
        var body: Streamed?
        var start = 0
        for end in cuts + [bytes.count] {
            kept += bytes[start..<end]
            start = end
            var position = 0
            let isOver = kept.withUnsafeBytes { kept in
                drain(&parser, kept, &position, &events, &body)
            }
            if isOver { return events }
            kept.removeFirst(position)
        }
        if !parser.isBetweenRequests || !kept.isEmpty { events.append("incomplete") }
        return events
    }

    func events(_ text: String, cutAt cuts: [Int] = []) -> [String] {
        events(Array(text.utf8), cutAt: cuts)
    }

    private func drain(
        _ parser: inout RequestParser, _ bytes: UnsafeRawBufferPointer, _ position: inout Int,
        _ events: inout [String], _ body: inout Streamed?
    ) -> Bool {
        while position < bytes.count || parser.isStreamWhole {
            let streams = streams
            switch parser.next(bytes, at: &position, limits: limits, streams: { _ in streams }) {
            case .needsMore: return false
            case .request(let request): events.append(Self.describe(request))
            case .began(let head, let isHeld):
                body = Streamed(head: head)
                if isHeld {
                    let budget = BodyBudget(bytesMax: 1 << 30)
                    body?.held = try? HeldBody(
                        head, BodyOptions(owner: .doubted), budget: budget, limits: limits)
                }
            case .piece(let range):
                if range.isEmpty { events.append("an empty piece") }
                if let fault = body?.take(UnsafeRawBufferPointer(rebasing: bytes[range])) {
                    events.append("\(fault.status) \(fault.reason)")
                    return true
                }
            case .ended:
                switch body?.finish() {
                case .success(let whole): events.append(Self.describe(whole))
                case .failure(let fault):
                    events.append("\(fault.status) \(fault.reason)")
                    return true
                case nil: break
                }
                body = nil
            case .rejected(let fault):
                events.append("\(fault.status) \(fault.reason)")
                return true
            }
        }
        return false
    }

    /// A body as it comes in pieces.
    private struct Streamed {
        let head: RequestHead
        var held: HeldBody?
        var bytes: [UInt8] = []

        mutating func take(_ piece: UnsafeRawBufferPointer) -> WireFault? {
            guard let held else {
                bytes += piece
                return nil
            }
            do throws(WireFault) { try held.take(piece) } catch { return error }
            return held.hasQueued ? held.inflateQueued() : nil
        }

        func finish() -> Result<IncomingRequest, WireFault> {
            guard let held else { return .success(IncomingRequest(head: head, body: bytes)) }
            let peer = Peer(address: "unix", isLoopback: true, isTLS: false)
            let request = HTTPRequest(
                id: "", method: head.method, target: head.target, headers: head.headers, body: [],
                peer: peer, loop: 0)
            return Result { () throws(WireFault) in
                IncomingRequest(head: head, body: try held.finish(request).body)
            }
        }
    }

    static func describe(_ request: IncomingRequest) -> String {
        let head = request.head
        let target = String(decoding: head.target, as: UTF8.self)
        var text = "\(head.method) \(target)"
        if head.isVersion10 { text += " 1.0" }
        if !head.keepsAlive { text += " close" }
        if !request.body.isEmpty {
            text += " [\(String(decoding: request.body, as: UTF8.self))]"
        }
        return text
    }
}
