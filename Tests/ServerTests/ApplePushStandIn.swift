import Cryptography
import Foundation
import PythonProgram
import Testing

/// What stands in for Apple's push service, and one device of Ann's that it reaches; nothing where it cannot be.
///
/// Builds without the trait ApplePush push to none, and machines without PyPI's `h2` have nothing that answers.
struct ApplePushStandIn {
    private static let token = String(repeating: "1a", count: 32)

    private let service: HTTP2Server?

    init() throws {
        #if ApplePush
            service = try HTTP2Server()
        #else
            service = nil
        #endif
    }

    /// Has a server push there.
    var environment: [String: String] {
        guard let service else { return [:] }
        return [
            "LENTICULAR_OUTGOING_APPLE_PUSH_DEVELOPMENT_URL": "https://localhost:\(service.port)",
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8,::1",
            "LENTICULAR_OUTGOING_AUTHORITIES_FILE": service.certificate,
        ]
    }

    /// - Parameter file: where the key of the app is written.
    func register(_ home: DeliveryHome, key file: String) throws {
        guard service != nil else { return }
        try P256PrivateKey().pem.write(toFile: file, atomically: true, encoding: .utf8)
        let added = try home.server.command(
            "push", "key", "add", DeliveryHome.container, "--topic", "org.example.cups", "--key",
            file, "--key-id", "ABC1234567", "--team-id", "TEAM123456")
        #expect(added.status == 0, "\(added.error)")
        try home.register("\"apnsToken\":\"\(Self.token)\"", by: home.ann)
    }

    /// What the device hears, from so many pushes.
    func heard(
        _ count: Int, _ subscription: ([String: Any]) -> String?
    ) throws -> Set<String> {
        guard let service else { return [] }
        var heard: Set<String> = []
        for _ in 0..<(count * 4) where heard.count < count {
            let text = try service.nextRequest()
            let request = try #require(
                JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            // Else a connection has ended.
            guard let fields = request["fields"] as? [String: String] else { continue }
            #expect(fields[":path"] == "/3/device/\(Self.token)")
            let body = Data((request["body"] as? String ?? "").utf8)
            let notice = try JSONSerialization.jsonObject(with: body) as? [String: Any]
            if let id = notice.flatMap(subscription) { heard.insert(id) }
        }
        return heard
    }

    /// All, where there is a device to hear of them.
    func expected(_ all: Set<String>) -> Set<String> { service == nil ? [] : all }
}
