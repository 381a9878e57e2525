import Cryptography

/// The name for notices of which only the last one counts: 32 characters of base64url (RFC 8030 §5.4).
///
/// It is for push services that do not take the app's own name.
enum NoticeTopic {
    static func text(_ collapseID: String) -> String {
        Base64.encode(Array(SHA256.digest(Array(collapseID.utf8)).prefix(24)), .urlSafe)
    }
}
