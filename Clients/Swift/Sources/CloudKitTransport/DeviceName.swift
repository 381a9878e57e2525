import Foundation

/// What this device is called to servers, so that they can tell its own changes from others'.
///
/// It says nothing of the device or its owner, and stays from run to run.
enum DeviceName {
    static let standard = kept(
        in: (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? FileManager.default.temporaryDirectory).appendingPathComponent("lenticular-client"))

    /// The name in a folder; made when there is none, and for one run where it cannot be kept.
    static func kept(in folder: URL) -> String {
        let file = folder.appendingPathComponent("device")
        if let data = FileManager.default.contents(atPath: file.path),
            let name = UUID(uuidString: String(decoding: data, as: UTF8.self))
        {
            return name.uuidString
        }
        let name = UUID().uuidString
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try? Data(name.utf8).write(to: file, options: .atomic)
        return name
    }
}
