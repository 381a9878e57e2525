import AssetStorage
import Configuration
import Cryptography
import SQLiteStorage

/// Where the assets of each container environment are, as the settings say.
struct AssetPlaces: Sendable {
    private let key: AssetKey?
    private let freeBytesMin: Int
    private let random: RandomSource

    /// - Throws: `CommandFailure` for a key file that holds no key.
    init(_ settings: AssetSettings, random: RandomSource) throws {
        key = try Self.key(settings.keyFile)
        freeBytesMin = settings.freeBytesMin
        self.random = random
    }

    private static func key(_ path: String) throws -> AssetKey? {
        guard !path.isEmpty else { return nil }
        var text = try FileSystem.contents(of: path, bytesMax: 1_024)[...]
        while let last = text.last, last == 0x0A || last == 0x0D || last == 0x20 {
            text = text.dropLast()
        }
        guard let bytes = Hexadecimal.decode(text), let key = AssetKey(bytes) else {
            throw CommandFailure(
                "assets.keyFile: \(path) does not hold 64 lower-case hexadecimal digits; "
                    + "make one with: openssl rand -hex 32")
        }
        return key
    }

    /// The assets of a store below a data folder.
    func storage(of key: Stores.Key, in folder: String) -> any AssetStorage {
        folderStorage(of: key, in: folder, freeBytesMin: freeBytesMin)
    }

    /// The assets of a store in a copy of a data folder: always files beside the store.
    func backupStorage(of key: Stores.Key, in folder: String) -> any AssetStorage {
        folderStorage(of: key, in: folder, freeBytesMin: 0)
    }

    private func folderStorage(
        of key: Stores.Key, in folder: String, freeBytesMin: Int
    ) -> any AssetStorage {
        let path = Stores.path(of: key, in: folder)
        let parent = FileSystem.parent(of: path) ?? folder
        return FolderAssets(
            path: "\(parent)/assets", key: self.key, freeBytesMin: freeBytesMin, random: random)
    }
}
