import Cryptography

/// Makes sure that a form that comes in was shown by this server to the same browser.
struct FormGuard: Sendable {
    private static let cookieBytes = 16
    private let key: HMACSHA256
    private let random: RandomSource

    init(key: [UInt8], random: RandomSource) {
        self.key = HMACSHA256(key: key)
        self.random = random
    }

    /// What the browser's cookie holds, new where it has none yet.
    func cookie(_ known: String?) -> (value: String, isNew: Bool) {
        if let known, known.utf8.count == 2 * Self.cookieBytes, Hexadecimal.decode(known) != nil {
            return (known, false)
        }
        return (Hexadecimal.encode(random.bytes(Self.cookieBytes)), true)
    }

    /// What each form holds that goes with a cookie.
    func token(for cookie: String) -> String {
        Hexadecimal.encode(key.code(for: Array(cookie.utf8)))
    }

    /// Whether a form is ours: its token matches the browser's cookie, and no other site sent it.
    func admits(_ request: PageRequest) -> Bool {
        guard request.headers.areOfOwnPage(), let cookie = request.cookies[.form],
            let token = request.form["guard"].flatMap({ Hexadecimal.decode($0) }),
            token.count == HMACSHA256.codeBytes
        else { return false }
        return key.isValid(token, for: Array(cookie.utf8))
    }
}
