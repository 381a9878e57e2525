import CloudModel
import Cryptography
import Storage

/// The tokens with which devices wait for their notices: random bytes, and a code over them and
/// their place.
///
/// By the code, the server knows its own tokens without looking into a store. So a false token
/// never makes it open a store.
package struct CourierTokens: Sendable {
    /// Of one token.
    package static let bytes = randomBytes + codeBytes

    private static let randomBytes = 16
    private static let codeBytes = 16
    private static let secretBytes = 32

    private let key: HMACSHA256

    init(catalog: any CatalogStorage, random: RandomSource) throws {
        key = HMACSHA256(
            key: try catalog.secret("courier-tokens", orStore: random.bytes(Self.secretBytes)))
    }

    /// Another token at each call.
    package func make(
        in container: ContainerID, _ environment: Environment, random: RandomSource
    ) -> [UInt8] {
        let start = random.bytes(Self.randomBytes)
        return start + key.code(for: message(start, container, environment), bytes: Self.codeBytes)
    }

    /// Whether the server made a token, for this container environment; not whether it still lives.
    package func isOurs(
        _ token: [UInt8], in container: ContainerID, _ environment: Environment
    ) -> Bool {
        guard token.count == Self.bytes else { return false }
        let start = Array(token.prefix(Self.randomBytes))
        return key.isValid(
            Array(token.suffix(Self.codeBytes)), for: message(start, container, environment))
    }

    private func message(
        _ start: [UInt8], _ container: ContainerID, _ environment: Environment
    ) -> [UInt8] { start + Array("\(environment.rawValue) \(container.folded)".utf8) }
}
