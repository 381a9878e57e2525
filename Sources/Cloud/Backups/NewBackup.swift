import AssetStorage
import CloudModel
import Cryptography
import Storage

/// Makes a backup, part by part; of what the last one has, only what has changed is stored again.
///
/// Used by one thread. There is no backup before `finish` has returned, and nothing that others need is changed.
package final class NewBackup {
    /// What is read to copy a part.
    package struct Source {
        let read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
        let assets: Assets?

        /// - Parameters:
        ///   - read: up to so many bytes from an offset on; fewer only at the end.
        ///   - assets: the files that the part refers to; nil where it has none, or they stay where they are.
        package init(
            assets: Assets? = nil,
            read: @escaping (_ offset: Int64, _ count: Int) throws -> [UInt8]
        ) {
            (self.assets, self.read) = (assets, read)
        }
    }

    /// The asset files of a part.
    package struct Assets {
        let page: (_ after: AssetDigest?, _ limit: Int) throws -> [AssetRow]
        let storage: any AssetBlobStore

        /// - Parameter page: as `PartImage.assets`.
        package init(
            storage: any AssetBlobStore,
            page: @escaping (_ after: AssetDigest?, _ limit: Int) throws -> [AssetRow]
        ) {
            self.page = page
            self.storage = storage
        }
    }

    private let moment: Milliseconds
    private let version: String
    private let previous: BackupManifest?
    private let objects: any BackupObjects
    private let key: BackupKey
    let packs: PackWriter
    let reader: PackReader
    /// Asked before each piece; false ends it, and there is no backup.
    private let goesOn: @Sendable () -> Bool
    /// Packs of which so little is in use that what is, is stored again, so that they can go.
    private let sparse: Set<String>
    private var parts: [BackupManifest.Part] = []
    /// Of the part that is being copied.
    private var used: [String: Int] = [:]

    init(
        _ objects: any BackupObjects, _ key: BackupKey, moment: Milliseconds, version: String,
        previous: BackupManifest?, run: String, while goesOn: @escaping @Sendable () -> Bool
    ) throws {
        self.objects = objects
        self.key = key
        self.moment = moment
        self.version = version
        self.previous = previous
        self.goesOn = goesOn
        packs = PackWriter(objects, key, run: run)
        reader = PackReader(objects: objects, key: key)
        let used = previous?.packs ?? [:]
        sparse = Set(
            try objects.list(PackWriter.prefix).compactMap { object in
                let name = String(object.name.dropFirst(PackWriter.prefix.count))
                guard let bytes = used[name] else { return nil }
                return bytes * 2 < object.byteCount ? name : nil
            })
    }

    /// The mark that the last backup has for a part; nil where nobody can tell by it whether the part has changed.
    package func previousMark(of name: String) -> [UInt8]? { previous?.part(name)?.mark }

    /// Takes over a part that has not changed since the last backup.
    package func keep(_ name: String) {
        parts.removeAll { $0.name == name }
        if let part = previous?.part(name) { parts.append(part) }
    }

    /// Copies a part.
    ///
    /// - Parameter mark: by which the next backup can tell whether it has changed; nil where nobody can.
    /// - Returns: a line for each asset that is missing or damaged; all others are copied.
    /// - Throws: `BackupFailure`, and what reading or storing throws; then the backup cannot be made.
    package func add(_ name: String, mark: [UInt8]?, _ source: Source) throws -> [String] {
        used = [:]
        let known = try previous?.part(name).map {
            try PartContents(reader.contents($0.contents))
        }
        var contents = try copyBytes(of: source, known?.lists ?? [])
        var problems: [String] = []
        if let assets = source.assets {
            (contents.assets, problems) = try copy(assets, known?.assets ?? [:])
        }
        let list = try store(contents.encoded())
        parts.removeAll { $0.name == name }
        parts.append(BackupManifest.Part(name: name, mark: mark, contents: list, packs: used))
        return problems
    }

    /// Makes it a backup.
    ///
    /// - Returns: how many bytes were stored for it.
    package func finish() throws -> Int {
        try packs.finish()
        let manifest = BackupManifest(moment: moment, version: version, parts: parts)
        let name = BackupManifest.prefix + BackupRepository.name(of: moment)
        let bytes = try key.seal(manifest.encoded(), as: Array(name.utf8))
        try objects.put(name, bytes)
        return packs.writtenBytes + bytes.count
    }

    private func copyBytes(
        of source: Source, _ knownLists: [PieceReference]
    ) throws -> PartContents {
        let size = PartContents.pieceBytes
        var contents = PartContents()
        var isWhole = false
        while !isWhole {
            let lists = contents.lists
            let knownList = knownLists.indices.contains(lists.count) ? knownLists[lists.count] : nil
            let known = try knownList.map { try self.pieces($0) } ?? []
            var pieces: [PieceReference] = []
            while pieces.count < PartContents.piecesPerList, !isWhole {
                let bytes = try source.read(contents.byteCount, size)
                isWhole = bytes.count < size
                guard !bytes.isEmpty else { break }
                let old = known.indices.contains(pieces.count) ? known[pieces.count] : nil
                pieces.append(try store(bytes, unless: old))
                contents.byteCount += Int64(bytes.count)
            }
            guard !pieces.isEmpty else { break }
            if let knownList, pieces == known, !sparse.contains(knownList.pack) {
                contents.lists.append(use(knownList))
            } else {
                contents.lists.append(try store(PieceList.encode(pieces)))
            }
        }
        return contents
    }

    private func pieces(_ list: PieceReference) throws -> [PieceReference] {
        var reader = ByteReader(try self.reader.contents(list))
        return try PieceList.decode(&reader)
    }

    /// Stores contents, unless they are what is known to be stored already.
    private func store(
        _ bytes: [UInt8], unless known: PieceReference? = nil
    ) throws -> PieceReference {
        guard goesOn() else { throw BackupFailure.stopped }
        let digest = key.digest(bytes)
        if let known, known.digest == digest, !sparse.contains(known.pack) { return use(known) }
        return use(try packs.add(bytes, digest))
    }

    private func use(_ reference: PieceReference) -> PieceReference {
        used[reference.pack, default: 0] += reference.count
        return reference
    }
}

// Assets, list by list: those whose digests begin alike.
extension NewBackup {
    private static let rowsPerPage = 1_000

    private func copy(
        _ assets: Assets, _ knownLists: [UInt8: PieceReference]
    ) throws -> ([UInt8: PieceReference], [String]) {
        var lists: [UInt8: PieceReference] = [:]
        var problems: [String] = []
        var rows: [AssetRow] = []
        var last: AssetDigest?
        func endList() throws {
            guard let first = rows.first?.content.digest.bytes.first else { return }
            if let list = try copy(rows, assets.storage, knownLists[first], &problems) {
                lists[first] = list
            }
            rows = []
        }
        while true {
            let page = try assets.page(last, Self.rowsPerPage)
            for row in page {
                if let first = rows.first,
                    first.content.digest.bytes[0] != row.content.digest.bytes[0]
                {
                    try endList()
                }
                rows.append(row)
            }
            last = page.last?.content.digest
            guard page.count == Self.rowsPerPage else { break }
        }
        try endList()
        return (lists, problems)
    }

    /// Copies the files of one list; nil where none of them is there.
    private func copy(
        _ rows: [AssetRow], _ storage: any AssetBlobStore, _ knownList: PieceReference?,
        _ problems: inout [String]
    ) throws -> PieceReference? {
        var known: [AssetDigest: BackedUpAsset] = [:]
        if let knownList {
            for asset in try BackedUpAsset.decode(reader.contents(knownList)) {
                known[asset.digest] = asset
            }
        }
        var found: [BackedUpAsset] = []
        for row in rows {
            let digest = row.content.digest
            if let asset = known[digest],
                !asset.pieces.contains(where: { sparse.contains($0.pack) })
            {
                asset.pieces.forEach { _ = use($0) }
                found.append(asset)
                continue
            }
            do {
                if let asset = try copy(digest, from: storage) {
                    found.append(asset)
                } else if row.isNeeded {
                    problems.append("missing asset: \(digest.hexadecimal)")
                }
            } catch AssetFailure.damaged(let digest) {
                problems.append("damaged asset: \(digest.hexadecimal)")
            }
        }
        if let knownList, found == rows.compactMap({ known[$0.content.digest] }),
            found.count == known.count, !sparse.contains(knownList.pack)
        {
            return use(knownList)
        }
        return found.isEmpty ? nil : try store(BackedUpAsset.encode(found))
    }

    private func copy(
        _ digest: AssetDigest, from storage: any AssetBlobStore
    ) throws -> BackedUpAsset? {
        guard let file = try storage.open(digest) else { return nil }
        var hash = SHA256()
        var pieces: [PieceReference] = []
        var gathered: [UInt8] = []
        var offset = 0
        while offset < file.byteCount {
            let bytes = try file.read(
                at: offset, count: BackedUpAsset.pieceBytes - gathered.count)
            guard !bytes.isEmpty else { throw AssetFailure.damaged(digest) }
            hash.update(bytes)
            gathered += bytes
            offset += bytes.count
            if gathered.count == BackedUpAsset.pieceBytes || offset == file.byteCount {
                pieces.append(try store(gathered))
                gathered = []
            }
        }
        guard hash.digest() == digest.bytes else { throw AssetFailure.damaged(digest) }
        return BackedUpAsset(digest: digest, size: offset, pieces: pieces)
    }
}
