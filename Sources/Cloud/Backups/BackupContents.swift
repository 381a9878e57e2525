import AssetStorage
import CloudModel

/// Reads a backup, part by part.
///
/// Whatever it gives has been checked.
package struct BackupContents {
    private let manifest: BackupManifest
    private let reader: PackReader

    init(_ manifest: BackupManifest, _ reader: PackReader) {
        self.manifest = manifest
        self.reader = reader
    }

    package var names: [String] { manifest.names }

    /// How many bytes all of it is, and its assets.
    package func byteCount() throws -> Int64 {
        try manifest.parts.reduce(0) { try $0 + byteCount(of: $1.name) }
    }

    /// How many bytes a part is, and its assets.
    package func byteCount(of name: String) throws -> Int64 {
        let contents = try contents(name)
        return try contents.assets.values.reduce(contents.byteCount) { sum, list in
            try sum
                + BackedUpAsset.decode(reader.contents(list)).reduce(0) { $0 + Int64($1.size) }
        }
    }

    /// Hands on all bytes of a part, in pieces, in their order.
    ///
    /// - Throws: `BackupFailure` when the backup has no such part or it is damaged, and whatever `visit` throws.
    package func read(_ name: String, _ visit: ([UInt8]) throws -> Void) throws {
        let contents = try contents(name)
        var count: Int64 = 0
        for list in contents.lists {
            var pieces = ByteReader(try reader.contents(list))
            try reader.read(PieceList.decode(&pieces)) {
                count += Int64($0.count)
                try visit($0)
            }
        }
        guard count == contents.byteCount else {
            throw BackupFailure.damaged("\(name) is too short")
        }
    }

    /// Puts all assets of a part in place.
    ///
    /// - Throws: `BackupFailure`, `AssetFailure`.
    package func copyAssets(of name: String, to storage: any AssetBlobStore) throws {
        for (_, list) in try contents(name).assets.sorted(by: { $0.key < $1.key }) {
            for asset in try BackedUpAsset.decode(reader.contents(list)) {
                let upload = try storage.begin(expectedBytes: asset.size)
                defer { upload.discard() }
                try reader.read(asset.pieces) { try $0.withUnsafeBytes { try upload.append($0) } }
                guard try upload.seal().digest == asset.digest else {
                    throw BackupFailure.damaged("asset \(asset.digest.hexadecimal)")
                }
                try upload.place()
            }
        }
    }

    private func contents(_ name: String) throws -> PartContents {
        guard let part = manifest.part(name) else {
            throw BackupFailure("the backup has no \(name)")
        }
        return try PartContents(reader.contents(part.contents))
    }
}
