import Foundation
import HTTP
import HTTPClient
import Network
import Testing

@Suite("The client over TLS")
struct ClientTLSTests {
    private func run(
        _ certificate: TestCertificate, _ body: (_ port: UInt16) throws -> Void
    ) throws {
        let context = try TLSContext(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        try TestServer.run({
            $0.endpoints = [.init(.tcp(host: "127.0.0.1", port: 0), tls: context)]
        }) { test in
            guard case .tcp(_, let port) = test.address else { return }
            try body(port)
        }
    }

    private func client(
        _ host: String, _ port: UInt16, _ trust: ServerTrust?
    ) -> BlockingHTTPClient {
        BlockingHTTPClient(HTTPOrigin(isSecure: true, host: host, port: port), trust: trust)
    }

    @Test("A server with a trusted certificate is spoken to, bodies of any size both ways")
    func exchange() throws {
        let certificate = try TestCertificate(name: "localhost")
        try run(certificate) { port in
            let trust = try ServerTrust(authoritiesFile: certificate.certificateFile)
            let client = client("localhost", port, trust)
            for size in [0, 1, 16_384, 16_385, 1_000_000] {
                let bytes = TestResponder.bytes(size)
                let response = try client.send(
                    ClientRequest(method: "POST", target: "/echo", body: .bytes(bytes)))
                #expect(response.status == 200)
                #expect(try response.readAll(bytesMax: 2_000_000) == bytes)
            }
        }
    }

    @Test("A certificate of an unknown authority, of another host, or no trust at all stops it")
    func untrusted() throws {
        let certificate = try TestCertificate(name: "localhost")
        let other = try TestCertificate(name: "localhost")
        try run(certificate) { port in
            let own = try ServerTrust(authoritiesFile: certificate.certificateFile)
            let foreign = try ServerTrust(authoritiesFile: other.certificateFile)
            let request = ClientRequest(method: "GET", target: "/")
            for client in [
                client("localhost", port, foreign), client("localhost", port, try ServerTrust()),
                client("127.0.0.1", port, own),
            ] {
                do {
                    _ = try client.send(request)
                    Issue.record("a server has been believed")
                } catch ClientFailure.untrusted {}
            }
            #expect(throws: ClientFailure.unreachable("TLS cannot be set up")) {
                try client("localhost", port, nil).send(request)
            }
        }
        #expect(throws: TLSError.self) { _ = try ServerTrust(authoritiesFile: "/no/such/file") }
    }
}
