import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// Files: sent and fetched by addresses that the server hands out, without credentials.
extension ServiceConnection {
    /// Sends a file, a piece at a time.
    ///
    /// - Returns: the answer, which describes the file.
    /// - Throws: `WireFault`, `TransportFailure`.
    public func upload(_ file: URL, to address: URL) async throws -> JSONView {
        var request = URLRequest(url: address, timeoutInterval: requestSeconds)
        request.httpMethod = "POST"
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await session.upload(for: request, fromFile: file)
        } catch {
            throw TransportFailure(error)
        }
        guard let answer = response as? HTTPURLResponse else {
            throw TransportFailure.unreadable(status: 0)
        }
        return try Self.read(data, answer)
    }

    /// Fetches a file to the disk, a piece at a time, and moves it into its place.
    ///
    /// - Throws: `TransportFailure`, and what the file system reports.
    public func download(_ address: URL, to place: URL) async throws {
        let file: URL
        let response: URLResponse
        do {
            (file, response) = try await session.download(from: address)
        } catch {
            throw TransportFailure(error)
        }
        defer { try? FileManager.default.removeItem(at: file) }
        guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
            throw TransportFailure.unreadable(
                status: (response as? HTTPURLResponse)?.statusCode ?? 0)
        }
        // Another request may have brought the same file meanwhile.
        guard !FileManager.default.fileExists(atPath: place.path) else { return }
        do {
            try FileManager.default.moveItem(at: file, to: place)
        } catch {
            guard FileManager.default.fileExists(atPath: place.path) else { throw error }
        }
    }
}
