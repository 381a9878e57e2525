import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Notifications: asked for at an address of this device's own, which is a secret.
extension ServiceConnection {
    /// How a server tells a device.
    package enum CourierWay: Sendable {
        /// One answer that goes on for as long as both are there; a server that has none answers as to a poll.
        case eventStream
        /// One notification an answer, which the server holds until there is one.
        case longPoll
    }

    /// How long nothing may come before the connection counts as broken: servers write something, or answer, more
    /// often.
    private static let silenceSeconds: TimeInterval = 90

    /// Makes the address at which this device gets its notices.
    ///
    /// - Throws: `WireFault`, `TransportFailure`.
    package func courierAddress() async throws -> URL {
        guard let environment = service?.environment.rawValue else {
            throw TransportFailure.badAddress
        }
        var body = JSONText()
        body.object { json in
            json.member("apnsEnvironment", environment)
            json.member("clientId", DeviceName.standard)
        }
        let answer = try await call(
            Call(module: "device", operation: "tokens/create", body: body.bytes))
        guard let text = answer["webcourierURL"]?.string, let address = URL(string: text) else {
            throw TransportFailure.unreadable(status: 200)
        }
        return address
    }

    /// What came of a request to the courier.
    package enum CourierAnswer: Sendable {
        /// Events, each with what it is resumed after.
        case events(StreamedBody)
        /// One notification; empty when there was none in time.
        case poll([UInt8])
        /// The address is no longer good.
        case gone
    }

    /// Asks the courier.
    ///
    /// - Parameter last: what to go on after, which tells the server that everything up to it has come.
    /// - Throws: `WireFault`, `TransportFailure`.
    package func askCourier(
        at address: URL, _ way: CourierWay, after last: String?
    ) async throws -> CourierAnswer {
        var request = URLRequest(url: address)
        request.setValue(
            way == .eventStream ? "text/event-stream, application/json" : "application/json",
            forHTTPHeaderField: "Accept")
        if let last { request.setValue(last, forHTTPHeaderField: "Last-Event-ID") }
        let (body, answer): (StreamedBody, HTTPURLResponse)
        do {
            (body, answer) = try await exchange.stream(
                request, TimeLimits(silenceSeconds: Self.silenceSeconds))
        } catch {
            throw TransportFailure(error, isWrite: false)
        }
        if [401, 403, 404, 410, 421].contains(answer.statusCode) { return .gone }
        let type = answer.value(forHTTPHeaderField: "Content-Type") ?? ""
        if answer.statusCode == 200, type.hasPrefix("text/event-stream") { return .events(body) }
        let bytes = try await Self.whole(body)
        if answer.statusCode == 200 || answer.statusCode == 204 {
            return .poll(bytes)
        }
        _ = try Self.read(Data(bytes), answer)
        throw TransportFailure.unreadable(status: answer.statusCode)
    }

    private static func whole(_ body: StreamedBody) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await piece in body {
                bytes += piece
                guard bytes.count <= EventStreamParser.eventBytesMax else {
                    throw TransportFailure.unreadable(status: 200)
                }
            }
        } catch {
            throw TransportFailure(error, isWrite: false)
        }
        return bytes
    }
}
