import Foundation

/// A file that a field holds.
///
/// Made by an app, it names a file of the app's, which is sent when the record is saved. Fetched, it names a
/// file in this library's cache, which may be removed at any time once nothing holds the asset: copy what
/// you want to keep.
public final class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: as a record's, its parts are set by the request that sends or fetches it.

    /// Where the bytes are; nil for one that was not fetched, as in the server's copy of a conflict.
    public internal(set) var fileURL: URL?
    /// What the server knows the file by; nil until it has been sent.
    var stored: StoredAsset?

    /// An asset of a file of the app's, which must stay until the record is saved.
    public init(fileURL: URL) {
        self.fileURL = fileURL
        stored = nil
    }

    init(stored: StoredAsset, fileURL: URL?) {
        self.stored = stored
        self.fileURL = fileURL
    }

    /// The same file on the server, or, before it is there, the same place on this device.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        if let stored, let theirs = other.stored {
            return stored.fileChecksum == theirs.fileChecksum
        }
        return fileURL == other.fileURL
    }

    public override var hash: Int {
        stored?.fileChecksum.hashValue ?? fileURL.hashValue
    }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(fileURL.map { $0.path as NSString }, forKey: "FilePath")
        coder.encode(stored.map { $0.fileChecksum as NSString }, forKey: "FileChecksum")
        coder.encode(stored?.size ?? 0, forKey: "Size")
    }

    /// Reads it from an archive; nil for anything else.
    public init?(coder: NSCoder) {
        let path = coder.object(NSString.self, "FilePath")
        let checksum = coder.object(NSString.self, "FileChecksum")
        guard path != nil || checksum != nil else { return nil }
        fileURL = path.map { URL(fileURLWithPath: String($0)) }
        stored = checksum.map {
            StoredAsset(
                fileChecksum: String($0), size: coder.decodeInt64(forKey: "Size"),
                receipt: nil, downloadURL: nil)
        }
    }
}

/// What the server says of a file: after an upload, or in a record.
struct StoredAsset: Equatable, Sendable {
    let fileChecksum: String
    let size: Int64
    /// Lets the file be saved in a record; after an upload only.
    let receipt: String?
    /// Where to get it, with a place for a file's name; in fetched records only.
    let downloadURL: String?
}
