import AssetStorage
import CloudDatabase
import CloudModel
import Storage

/// Hands on the bytes of the file that a field of a record names.
///
/// Refusals: as `GetRecords`; also of a file that is missing or damaged.
package struct ReadAsset: OperatedReading {
    package let target: OperatedDatabase
    private let record: String
    private let field: String
    private let index: Int
    private let write: ([UInt8]) throws -> Void

    /// - Parameters:
    ///   - index: which file of a list, from 0.
    ///   - write: gets the bytes, one piece after the other.
    package init(
        _ field: String, at index: Int = 0, of record: String, in target: OperatedDatabase,
        to write: @escaping ([UInt8]) throws -> Void
    ) {
        self.target = target
        self.record = record
        self.field = field
        self.index = index
        self.write = write
    }

    package var name: String { "record asset" }

    package func run(in data: any ServerData, by actor: Operator) throws {
        let opened = try target.opened(in: data)
        let digest = try RecordsRefusal.of {
            try FindAsset(in: opened.zone, of: opened.database)
                .file(of: record, field: field, index: index)
        }
        let storage = data.assetStore(of: try target.target.found(in: data)).storage
        guard let reader = try storage.open(digest) else {
            throw RecordsRefusal("the file is missing")
        }
        let read = try reader.readAll { try write([UInt8]($0)) }
        guard read?.digest == digest else { throw RecordsRefusal("the file is damaged") }
    }
}
