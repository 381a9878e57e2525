import Cryptography
import Identity
import Synchronization

/// A key with which an app's pushes are signed, as Apple gives it out.
package struct ApplePushKey: Sendable {
    /// The app's bundle ID.
    package let topic: String
    package let team: String
    package let name: String
    package let key: P256PrivateKey

    package init(topic: String, team: String, name: String, key: P256PrivateKey) {
        self.topic = topic
        self.team = team
        self.name = name
        self.key = key
    }
}

/// The tokens that Apple's push service knows us by: each used for a while, as it asks.
///
/// A token is taken for an hour, and one made anew within 20 minutes is refused (`TooManyProviderTokenUpdates`).
final class ProviderTokens: Sendable {
    /// After which one is made anew.
    static let usedSeconds: Int64 = 2_700
    /// Before which none is made anew, whatever is said of the present one.
    static let usedSecondsMin: Int64 = 1_200
    private static let keysMax = 1_024

    private struct Token {
        let text: String
        let madeAt: Int64
    }

    private struct Name: Hashable {
        let team: String
        let key: String
    }

    private let tokens = Mutex<[Name: Token]>([:])

    /// The token of a key.
    ///
    /// - Parameter seconds: now, since 1970.
    func token(of key: ApplePushKey, seconds: Int64) -> String {
        let name = Name(team: key.team, key: key.name)
        return tokens.withLock { all in
            if let token = all[name], (0..<Self.usedSeconds).contains(seconds - token.madeAt) {
                return token.text
            }
            let text = SignedToken.applePush(
                team: key.team, keyName: key.name, seconds: seconds, key: key.key)
            if all.count >= Self.keysMax { all = [:] }
            all[name] = Token(text: text, madeAt: seconds)
            return text
        }
    }

    /// The service says that a key's token is too old: the next one is made anew, if that may be.
    func expire(_ key: ApplePushKey, seconds: Int64) {
        let name = Name(team: key.team, key: key.name)
        tokens.withLock { all in
            if let token = all[name], seconds - token.madeAt >= Self.usedSecondsMin {
                all[name] = nil
            }
        }
    }
}
