import Cryptography

/// The name for notices of which only the last one counts, for a push service that does not take
/// the app's own name: 32 characters of base64url (RFC 8030 §5.4).
enum NoticeTopic {
    static func text(_ collapseID: String) -> String {
        Base64.encode(Array(SHA256.digest(Array(collapseID.utf8)).prefix(24)), .urlSafe)
    }
}
