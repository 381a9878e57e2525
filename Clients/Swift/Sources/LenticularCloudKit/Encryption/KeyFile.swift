import CloudKitTransport
import Foundation

/// Where a device keeps its accounts' keys.
protocol KeyStore: Sendable {
    func key(of name: String) throws -> HeldKey?
    func keep(_ held: HeldKey, of name: String) throws
    func forget(_ name: String) throws
}

/// Where keys are kept unless a program says otherwise.
enum DeviceKeys {
    #if !os(Linux)
        static let standard: any KeyStore = KeychainKeys()
    #else
        static let standard: any KeyStore = KeyFolder(
            folder: (FileManager.default.urls(
                for: .applicationSupportDirectory, in: .userDomainMask
            ).first ?? FileManager.default.homeDirectoryForCurrentUser)
            .appendingPathComponent("lenticular-keys"))
    #endif
}

/// Keys as files that only their owner may read, each under the digest of its name.
struct KeyFolder: KeyStore {
    let folder: URL

    private func file(_ name: String) -> URL {
        let digest = SHA256Digest.of(Array(name.utf8)).prefix(16)
        let text = digest.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        return folder.appendingPathComponent(text)
    }

    func key(of name: String) throws -> HeldKey? {
        FileManager.default.contents(atPath: file(name).path).flatMap { HeldKey(stored: $0) }
    }

    func keep(_ held: HeldKey, of name: String) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let place = file(name)
        try? FileManager.default.removeItem(at: place)
        // Made with its permissions, so that nobody reads it in between.
        let isMade = FileManager.default.createFile(
            atPath: place.path,
            contents: held.stored,
            attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
    }

    func forget(_ name: String) throws {
        let place = file(name)
        guard FileManager.default.fileExists(atPath: place.path) else { return }
        try FileManager.default.removeItem(at: place)
    }
}
