import CloudKitTransport
import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One device's way to a server in memory.
struct MemoryExchange: HTTPExchange {
    let state: MemoryState
    let folder: URL

    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        // As over a network, whoever asks does not go on at once.
        await Task.yield()
        guard let url = request.url else { throw URLError(.badURL) }
        let path = url.pathComponents.suffix(3).joined(separator: "/")
        let person =
            URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?
            .first { $0.name == "ckWebAuthToken" }?.value
        // Without notifications yet; who looks for them is not counted among an app's requests.
        if path.hasSuffix("tokens/create") {
            let fault = MemoryFault(code: "NOT_FOUND", reason: "no notifications in memory")
            let (status, body) = Self.refusal(fault)
            return (Data(body), try Self.response(url, status))
        }
        let (status, body) = try state.with { contents in
            try Self.answer(path, [UInt8](request.httpBody ?? Data()), person, &contents)
        }
        return (Data(body), try Self.response(url, status))
    }

    func answer(to request: URLRequest, sending file: URL) async throws -> (Data, HTTPURLResponse) {
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

    func file(at address: URL, seconds: TimeInterval) async throws -> (URL, HTTPURLResponse) {
        let data = state.with { $0.files[address.lastPathComponent] }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent(UUID().uuidString)
        try (data ?? Data()).write(to: place)
        return (place, try Self.response(address, data == nil ? 404 : 200))
    }

    func stream(_ request: URLRequest) async throws -> (StreamedBody, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    private static func response(_ url: URL, _ status: Int) throws -> HTTPURLResponse {
        guard
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: [:])
        else { throw URLError(.badServerResponse) }
        return response
    }

    private static func answer(
        _ path: String, _ body: [UInt8], _ person: String?, _ contents: inout MemoryState.Contents
    ) throws -> (Int, [UInt8]) {
        contents.requests.append(path)
        let fault = contents.faults.isEmpty ? nil : contents.faults.removeFirst()
        switch fault {
        case .unreachable: throw URLError(.cannotConnectToHost)
        case .offline: throw URLError(.notConnectedToInternet)
        case .refused(let code, let retryAfter):
            return refusal(
                MemoryFault(code: code, reason: "as the test wants it", retryAfter: retryAfter))
        case .answerLost:
            _ = carryOut(path, body, person, &contents)
            throw URLError(.networkConnectionLost)
        case nil: return carryOut(path, body, person, &contents)
        }
    }

    private static func carryOut(
        _ path: String, _ body: [UInt8], _ person: String?, _ contents: inout MemoryState.Contents
    ) -> (Int, [UInt8]) {
        do {
            guard let person, !contents.signedOut.contains(person) else {
                throw MemoryFault(code: "AUTHENTICATION_REQUIRED", reason: "nobody is signed in")
            }
            var request = MemoryRequest(
                path: path, body: try JSONTape(body).root, person: person, contents: contents)
            let answer = try request.answer()
            contents = request.contents
            return (200, answer)
        } catch let fault as MemoryFault {
            return refusal(fault)
        } catch {
            return refusal(MemoryFault(code: "BAD_REQUEST", reason: "\(error)"))
        }
    }

    private static func refusal(_ fault: MemoryFault) -> (Int, [UInt8]) {
        var json = JSONText()
        json.object { fault.write(&$0) }
        return (fault.status, json.bytes)
    }
}
