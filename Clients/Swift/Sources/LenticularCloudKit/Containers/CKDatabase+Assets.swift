import CloudKitTransport
import CloudKitWire
import Foundation

// The files of assets: sent before the records that hold them, fetched with them.
extension CKDatabase {
    /// Sends the files that records are about to hold and the server does not have yet.
    ///
    /// - Returns: why a record cannot be saved, for those whose files could not be sent.
    /// - Throws: `CKError` when the server answers nothing.
    func sendFiles(of records: [CKRecord]) async throws -> [CKRecord.ID: CKError] {
        var failures: [CKRecord.ID: CKError] = [:]
        for record in records {
            do {
                for (key, asset) in record.unsentAssets {
                    asset.stored = try await send(asset, as: key, of: record)
                }
            } catch let error as CKError where error.isAboutFile {
                failures[record.recordID] = error
            }
        }
        return failures
    }

    private func send(
        _ asset: CKAsset, as key: CKRecord.FieldKey, of record: CKRecord
    ) async throws -> StoredAsset {
        guard let file = asset.fileURL, let before = FileStamp(file) else {
            throw CKError(.assetFileNotFound, "there is no file at the asset's fileURL")
        }
        let answer = try await call("assets/upload") { json in
            json.zone(record.recordID.zoneID)
            json.key("tokens")
            json.array { json in
                json.object { json in
                    json.member("recordName", record.recordID.recordName)
                    json.member("recordType", record.recordType)
                    json.member("fieldName", key)
                }
            }
        }
        let token = answer["tokens"]?.elements.first { _ in true }
        guard let address = token?["url"]?.string.flatMap({ URL(string: $0) }) else {
            throw CKError(.internalError, "the answer lacks the address for the file")
        }
        let receipt = try await settings.attempt { timeLimits in
            try await connection.upload(file, to: address, timeLimits)
        }
        guard FileStamp(file) == before else {
            throw CKError(.assetFileModified, "the asset's file changed while it was sent")
        }
        guard let stored = StoredAsset(receipt["singleFile"]) else {
            throw CKError(.internalError, "the answer does not describe the file")
        }
        return stored
    }

    /// Fetches the files of records that were fetched, those that are not on this device yet.
    ///
    /// - Parameter isStrict: whether a file that the server has lost is an error; else its asset stays without a file.
    /// - Throws: `CKError`, `assetNotAvailable` when a file cannot be had.
    func fetchFiles(of records: [CKRecord], isStrict: Bool = true) async throws {
        for record in records {
            for asset in record.assets where asset.fileURL == nil {
                guard let stored = asset.stored else { continue }
                do {
                    asset.fileURL = try await file(of: stored)
                } catch is LostFile where isStrict {
                    throw CKError(.assetNotAvailable, "the server does not have the file")
                } catch is LostFile {
                    // NB: nobody can get it any more; the record is worth having without.
                }
            }
        }
    }

    /// The server has lost a file: asking again would not help.
    private struct LostFile: Error {}

    private func file(of asset: StoredAsset) async throws -> URL {
        if let known = assetCache.file(of: asset.fileChecksum) { return known }
        let address = asset.downloadURL?.replacingOccurrences(of: "${f}", with: "file")
        guard let address = address.flatMap({ URL(string: $0) }) else {
            throw CKError(.assetNotAvailable, "the server names no address for the file")
        }
        let place = assetCache.place(of: asset.fileChecksum)
        do {
            try assetCache.makeFolder()
            try await connection.download(
                address, to: place,
                TimeLimits(
                    silenceSeconds: settings.requestSeconds, wholeSeconds: settings.resourceSeconds)
            )
        } catch let failure as TransportFailure {
            switch failure {
            case .unreadable(status: 404), .unreadable(status: 410): throw LostFile()
            case .unreadable(let status):
                throw CKError(.assetNotAvailable, "the file cannot be had now (\(status))")
            default: throw CKError(failure)
            }
        } catch {
            throw CKError(.assetNotAvailable, "the file could not be kept: \(error)")
        }
        return place
    }
}

extension CKError {
    /// Whether only the record that holds the file has failed.
    fileprivate var isAboutFile: Bool {
        switch code {
        case .assetFileNotFound, .assetFileModified, .quotaExceeded, .permissionFailure: true
        default: false
        }
    }
}

/// What changes when a file does.
private struct FileStamp: Equatable {
    let size: UInt64
    let modified: Date?

    init?(_ file: URL) {
        guard let found = try? FileManager.default.attributesOfItem(atPath: file.path),
            found[.type] as? FileAttributeType == .typeRegular,
            let size = (found[.size] as? NSNumber)?.uint64Value
        else { return nil }
        self.size = size
        modified = found[.modificationDate] as? Date
    }
}

extension StoredAsset {
    /// Reads what the server says of a file.
    init?(_ view: JSONView?) {
        guard let view, let checksum = view["fileChecksum"]?.string else { return nil }
        self.init(
            fileChecksum: checksum, size: view["size"]?.int64 ?? 0,
            receipt: view["receipt"]?.string, downloadURL: view["downloadURL"]?.string)
    }
}

extension CKRecord {
    /// Every asset of the record, those in lists too.
    fileprivate var assets: [CKAsset] { values.values.flatMap(\.assets) }

    /// The assets that were set and whose files the server does not have.
    fileprivate var unsentAssets: [(FieldKey, CKAsset)] {
        changed.sorted().flatMap { key in
            (values[key]?.assets ?? []).filter { $0.stored == nil }.map { (key, $0) }
        }
    }
}

extension FieldValue {
    fileprivate var assets: [CKAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .list(let members, .asset?): members.flatMap(\.assets)
        default: []
        }
    }
}
