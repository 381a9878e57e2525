import CloudKitTransport
import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One device's way to a server in memory.
struct MemoryExchange: HTTPExchange {
    let state: MemoryState
    let container: String
    /// Where the device keeps files; also what it is known by.
    let folder: URL

    private var device: String { folder.lastPathComponent }

    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        // As over a network, the caller has to wait.
        await Task.yield()
        guard let url = request.url else { throw URLError(.badURL) }
        let path = url.pathComponents.suffix(3).joined(separator: "/")
        let query = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let person = query.first { $0.name == "ckWebAuthToken" }?.value
        let write = query.first { $0.name == "writeId" }?.value
        let (status, body) = try state.with { contents in
            // Waiting for notifications does not count among an app's requests.
            path.hasSuffix("tokens/create")
                ? makeCourier(person, &contents)
                : try answer(
                    Asked(
                        path: path, body: [UInt8](request.httpBody ?? Data()), person: person,
                        write: write), &contents)
        }
        return (Data(body), try Self.response(url, status))
    }

    func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let data = try Data(contentsOf: file)
        let checksum = SHA256Digest.of([UInt8](data)).map { String($0, radix: 16) }.joined()
        state.with { $0.files[checksum] = data }
        var json = JSONText()
        json.object { json in
            json.key("singleFile")
            json.object { json in
                json.member("fileChecksum", checksum)
                json.key("size")
                json.int64(Int64(data.count))
                json.member("receipt", "memory")
            }
        }
        return (Data(json.bytes), try Self.response(url, 200))
    }

    func file(
        at address: URL, _ timeLimits: TimeLimits
    ) async throws -> (URL, HTTPURLResponse) {
        let data = state.with { $0.files[address.lastPathComponent] }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent(UUID().uuidString)
        try (data ?? Data()).write(to: place)
        return (place, try Self.response(address, data == nil ? 404 : 200))
    }

    func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        await Task.yield()
        guard let url = request.url else { throw URLError(.badURL) }
        let accepted = request.value(forHTTPHeaderField: "Accept") ?? ""
        let way = accepted.contains("text/event-stream") ? MemoryCourier.Way.events : .poll
        let last = request.value(forHTTPHeaderField: "Last-Event-ID").flatMap { Int($0) }
        let (body, answer) = StreamedBody.makeStream()
        let address = url.lastPathComponent
        let reader = state.with { $0.couriers[address]?.attach(way, answer, after: last) }
        let isThere = reader != nil
        if let reader {
            // Not at once: the end may come from within the server.
            answer.onTermination = { [state] _ in
                Task { state.with { $0.couriers[address]?.detach(reader) } }
            }
        } else {
            answer.finish()
        }
        state.listeners.look()
        let type = way == .events ? "text/event-stream" : "application/json"
        return (body, try Self.response(url, isThere ? 200 : 401, ["Content-Type": type]))
    }

    private static func response(
        _ url: URL, _ status: Int, _ headers: [String: String] = [:]
    ) throws -> HTTPURLResponse {
        guard
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        else { throw URLError(.badServerResponse) }
        return response
    }

    private func makeCourier(
        _ person: String?, _ contents: inout MemoryState.Contents
    ) -> (Int, [UInt8]) {
        guard let person, !contents.signedOut.contains(person) else {
            return Self.refusal(Self.nobody)
        }
        let address = contents.makeCourier(of: person, at: device)
        let answer = MemoryRequest.object {
            $0.member("webcourierURL", "\(MemoryServer.address)/courier/\(address)")
        }
        return (200, answer)
    }

    /// What a request says.
    private struct Asked {
        let path: String
        let body: [UInt8]
        let person: String?
        /// What the device calls what it writes.
        let write: String?
    }

    private func answer(
        _ asked: Asked, _ contents: inout MemoryState.Contents
    ) throws -> (Int, [UInt8]) {
        contents.requests.append(asked.path)
        let fault = contents.faults.isEmpty ? nil : contents.faults.removeFirst()
        switch fault {
        case .unreachable: throw URLError(.cannotConnectToHost)
        case .offline: throw URLError(.notConnectedToInternet)
        case .refused(let code, let retryAfter):
            return Self.refusal(
                MemoryFault(code: code, reason: "as the test wants it", retryAfter: retryAfter))
        case .answerLost:
            _ = carryOut(asked, &contents)
            throw URLError(.networkConnectionLost)
        case nil: return carryOut(asked, &contents)
        }
    }

    private static let nobody = MemoryFault(
        code: "AUTHENTICATION_REQUIRED", reason: "nobody is signed in")

    private func carryOut(
        _ asked: Asked, _ contents: inout MemoryState.Contents
    ) -> (Int, [UInt8]) {
        do {
            guard let person = asked.person, !contents.signedOut.contains(person) else {
                throw Self.nobody
            }
            var request = MemoryRequest(
                path: asked.path, body: try JSONTape(asked.body).root, person: person,
                device: device, write: asked.write, contents: contents)
            let answer = try request.answer()
            contents = request.contents
            contents.tell(request.changes, in: container)
            return (200, answer)
        } catch let fault as MemoryFault {
            return Self.refusal(fault)
        } catch {
            return Self.refusal(MemoryFault(code: "BAD_REQUEST", reason: "\(error)"))
        }
    }

    private static func refusal(_ fault: MemoryFault) -> (Int, [UInt8]) {
        var json = JSONText()
        json.object { fault.write(&$0) }
        return (fault.status, json.bytes)
    }
}
