import Foundation

/// A place in a feed of changes, as the server gave it.
///
/// Keep it with what you fetched, and hand it back to be told only what came after. It is good for the user,
/// the database and the zone that it came from.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// As the server wrote it.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.text == text
    }

    public override var hash: Int { text.hashValue }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(text as NSString, forKey: "ChangeTokenData")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let text = coder.object(NSString.self, "ChangeTokenData")
        else { return nil }
        self.init(String(text))
    }
}
