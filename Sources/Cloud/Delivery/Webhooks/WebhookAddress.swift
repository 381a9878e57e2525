import CloudModel
import Cryptography
import HTTPClient
import JSON

/// Where a webhook goes and the key that it is signed with, as a destination keeps them.
package struct WebhookAddress: Sendable {
    package static let nameBytesMax = 64

    /// What people know it by, unique in its container environment.
    package let name: String
    package let url: TargetURL
    /// The signing key, sealed for `subject`.
    package let sealedKey: [UInt8]

    /// - Returns: nil for a name that is not 1 to 64 of `A-Z a-z 0-9 - _ .`.
    package init?(name: String, url: TargetURL, sealedKey: [UInt8]) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard (1...Self.nameBytesMax).contains(name.utf8.count), isPlain else { return nil }
        self.name = name
        self.url = url
        self.sealedKey = sealedKey
    }

    /// What a destination has kept; nil when it is something else.
    package init?(bytes: [UInt8]) {
        do throws(JSONError) {
            let value = try JSONDocument(parsing: bytes).root
            guard let name = value["name"]?.string, let text = value["url"]?.string,
                let url = TargetURL(text),
                let key = value["key"]?.string.flatMap({ Base64.decode(Array($0.utf8)) })
            else { return nil }
            self.init(name: name, url: url, sealedKey: key)
        } catch {
            return nil
        }
    }

    /// What a destination keeps, in JSON.
    package var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.raw("{\"name\":")
        writer.string(name)
        writer.member("url", "\(url)")
        writer.member("key", Base64.encode(sealedKey))
        writer.raw("}")
        return writer.bytes
    }

    /// What the destination is found by.
    package var key: [UInt8] { Array(name.utf8) }

    /// What signing keys are sealed for: those of one container environment open nowhere else.
    package static func subject(
        _ container: ContainerID, _ environment: Environment
    ) -> SecretSubject {
        SecretSubject(
            purpose: "webhook", owner: "\(container.folded)/\(environment.rawValue)")
    }
}
