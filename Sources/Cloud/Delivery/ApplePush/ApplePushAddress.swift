import Cryptography
import JSON

/// A device as Apple's push service knows it, as it was registered and as a destination keeps it.
package struct ApplePushAddress: Sendable, Equatable {
    package enum Gateway: String, Sendable, CaseIterable { case development, production }

    /// Of the device's token, which has no fixed length.
    private static let tokenBytes = 16...100
    private static let topicBytesMax = 255

    /// In lower-case hexadecimal digits.
    package let token: String
    /// Which of the two services has given the token.
    package let gateway: Gateway
    /// Which of the container's apps it is; nil for the only one.
    package let topic: String?

    /// - Returns: nil for a token that is not hexadecimal, and for an invalid topic.
    package init?(token: String, gateway: Gateway, topic: String? = nil) {
        let lowered = token.lowercased()
        guard let bytes = Hexadecimal.decode(lowered.utf8), Self.tokenBytes.contains(bytes.count)
        else { return nil }
        if let topic, !Self.isTopic(topic) { return nil }
        self.token = lowered
        self.gateway = gateway
        self.topic = topic
    }

    /// Whether a text can be what the push service calls an app: its bundle ID.
    package static func isTopic(_ text: String) -> Bool {
        (1...topicBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// What a destination has kept; nil when it is something else.
    package init?(bytes: [UInt8]) {
        do throws(JSONError) {
            let value = try JSONDocument(parsing: bytes).root
            guard let token = value["token"]?.string,
                let gateway = value["gateway"]?.string.flatMap({ Gateway(rawValue: $0) })
            else { return nil }
            self.init(token: token, gateway: gateway, topic: value["topic"]?.string)
        } catch {
            return nil
        }
    }

    /// What a destination keeps, in JSON.
    package var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.raw("{\"token\":")
        writer.string(token)
        writer.member("gateway", gateway.rawValue)
        if let topic {
            writer.member("topic", topic)
        }
        writer.raw("}")
        return writer.bytes
    }

    /// What the destination is found by.
    package var key: [UInt8] { Array("\(gateway.rawValue) \(token)".utf8) }
}
