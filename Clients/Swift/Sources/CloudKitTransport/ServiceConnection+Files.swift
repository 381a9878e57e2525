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
    public func upload(
        _ file: URL, to address: URL, _ timeLimits: TimeLimits
    ) async throws -> JSONView {
        var request = URLRequest(url: address)
        request.httpMethod = "POST"
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        let (data, answer): (Data, HTTPURLResponse)
        do {
            (data, answer) = try await exchange.answer(to: request, sending: file, timeLimits)
        } catch {
            // Sent again it is the same file: nothing is lost with the answer.
            throw TransportFailure(error, isWrite: false)
        }
        return try Self.read(data, answer)
    }

    /// Fetches a file to the disk, a piece at a time, and moves it into its place.
    ///
    /// - Throws: `TransportFailure`, and what the file system reports.
    public func download(_ address: URL, to place: URL, _ timeLimits: TimeLimits) async throws {
        let (file, answer): (URL, HTTPURLResponse)
        do {
            (file, answer) = try await exchange.file(at: address, timeLimits)
        } catch {
            throw TransportFailure(error, isWrite: false)
        }
        defer { try? FileManager.default.removeItem(at: file) }
        guard answer.statusCode == 200 else {
            throw TransportFailure.unreadable(status: answer.statusCode)
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
