import CloudModel
import Storage

extension StoreCaller {
    /// Whom a caller's writes count towards: the key that signs, whomever it acts for; else the account.
    init(_ caller: Caller) {
        var hasher = Hasher()
        if let key = caller.keyID {
            hasher.combine(0)
            hasher.combine(key)
        } else if let account = caller.account {
            hasher.combine(1)
            hasher.combine(account.text)
        } else {
            self = .server
            return
        }
        self.init(hasher)
    }

    /// Whom uploads count towards, by the identity that may use them (`AssetTokens.identity`).
    init(identity: [UInt8]) {
        var hasher = Hasher()
        hasher.combine(2)
        hasher.combine(identity)
        self.init(hasher)
    }

    private init(_ hasher: Hasher) {
        // Avoids the values that stand for the server itself.
        self.init(UInt64(UInt(bitPattern: hasher.finalize())) | 1 << 63)
    }
}
