import Foundation

/// The files of fetched assets, by their contents, in this user's folder for caches.
///
/// A file is fetched once, however many records hold it. The system may remove files that nobody uses.
struct AssetCache: Sendable {
    let folder: URL

    static let standard = AssetCache(
        folder: FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)
            .first.map { $0.appendingPathComponent("lenticular-assets") }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("lenticular-assets"))

    /// Where a file is or will be.
    ///
    /// Names are of the checksum's letters that a file name may have.
    func place(of checksum: String) -> URL {
        let name = checksum.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": String(scalar)
            default: "-\(scalar.value)"
            }
        }.joined()
        return folder.appendingPathComponent(name)
    }

    func file(of checksum: String) -> URL? {
        let place = place(of: checksum)
        return FileManager.default.fileExists(atPath: place.path) ? place : nil
    }

    func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }
}
