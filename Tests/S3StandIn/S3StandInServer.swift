import AssetStorage
import CloudModel
import Cryptography
import Foundation
import HTTP
import HTTPClient
import Network
import Synchronization

/// A small store that speaks as much S3 as the tests need, made of the server's own HTTP.
package final class S3StandInServer: Sendable {
    package static let bucket = "assets-of-tests"
    package static let region = "eu-test-1"
    package static let accessKeyID = "AKTESTS"
    package static let secret = Array("not-a-secret-of-anybody".utf8)

    package let objects = S3StandInObjects()
    package let origin: HTTPOrigin
    private let server: Mutex<HTTPServer?>
    /// How long was paused between attempts.
    package let pauses = Pauses()

    package init() throws {
        var configuration = HTTPServer.Configuration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.loopCount = 1
        let made = try HTTPServer(configuration, responder: objects)
        guard case .tcp(let host, let port) = try made.start()[0] else {
            throw ClientFailure.unreachable("no port")
        }
        origin = HTTPOrigin(isSecure: false, host: host, port: port)
        server = Mutex(made)
    }

    deinit { stop() }

    /// Ends as if it had died.
    package func stop() { server.withLock { $0.take() }?.drain(withinSeconds: 0) }

    /// The bucket, with pauses that last no time.
    package func bucket(
        secret: [UInt8] = S3StandInServer.secret, partBytes: Int = 100_000,
        windowBytes: Int = 90_000, isPathStyle: Bool = true
    ) -> S3Bucket {
        var options = S3Bucket.Options(endpoint: origin, bucket: Self.bucket)
        options.region = Self.region
        options.isPathStyle = isPathStyle
        options.partBytes = partBytes
        options.windowBytes = windowBytes
        options.attemptsMax = 3
        return S3Bucket(
            options, credentials: S3Credentials(accessKeyID: Self.accessKeyID, secretKey: secret),
            trust: nil,
            context: S3Bucket.Context(
                clock: Clock { Milliseconds(Date().timeIntervalSince1970 * 1_000) },
                random: .system
            ) { [pauses] in pauses.add($0) })
    }

    package final class Pauses: Sendable {
        private let list = Mutex<[Milliseconds]>([])
        package var all: [Milliseconds] { list.withLock { $0 } }
        func add(_ pause: Milliseconds) { list.withLock { $0.append(pause) } }
    }
}
