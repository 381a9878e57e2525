import CloudDatabase
import CloudModel
import Cryptography
import JSON

/// Brings the files of records of CloudKit to the folder beside the import's file.
///
/// A file lies there under the checksum that CloudKit has for it, which is made in another way than ours.
final class CloudKitAssets {
    private let requests: CloudKitRequests
    private let files: any TransferFiles
    /// Of the files that are whole: our checksum, by the one of CloudKit.
    private var whole: [String: String] = [:]
    /// How many files have come.
    var count = 0

    init(_ requests: CloudKitRequests, _ files: any TransferFiles) {
        self.requests = requests
        self.files = files
    }

    /// Brings an asset, and appends what the line of its record says of it.
    ///
    /// - Parameters:
    ///   - value: as an answer has it.
    ///   - again: asks for the value once more: its address holds for an hour only.
    /// - Throws: as `CloudKitRequests.download`.
    func append(
        _ value: JSONValue, to writer: inout JSONWriter, again: () throws -> JSONValue?
    ) throws {
        let theirs = value["fileChecksum"]?.string ?? ""
        var ours: String?
        if Self.isChecksum(theirs) {
            ours = try whole[theirs] ?? bring(value, theirs)
            if ours == nil, let fresh = try again(), fresh["fileChecksum"]?.string == theirs {
                ours = try bring(fresh, theirs)
            }
        }
        // Without a file the import says so of the record.
        writer.raw("{\"fileChecksum\":")
        writer.string(ours ?? theirs)
        if let size = value["size"]?.int64 { writer.member("size", size) }
        if ours != nil { writer.member("sourceChecksum", theirs) }
        writer.raw("}")
    }

    /// Nil when there is no file at the address, or another than the record says.
    private func bring(_ value: JSONValue, _ checksum: String) throws -> String? {
        guard let address = value["downloadURL"]?.string, let size = value["size"]?.int64 else {
            return nil
        }
        let url = address.replacing("${f}", with: "file")
        let file = TransferFile.asset(checksum: checksum)
        var hash = SHA256()
        var offset: Int64 = 0
        let status = try requests.download(url) {
            hash = SHA256()
            offset = 0
        } take: { piece in
            offset += Int64(piece.count)
            // What is longer is another file, and is not kept.
            guard offset <= size else { return }
            hash.update(piece)
            try files.write(file, at: offset - Int64(piece.count), piece)
        }
        guard status == 200, offset == size, let digest = AssetDigest(hash.digest()) else {
            return nil
        }
        if offset == 0 { try files.write(file, at: 0, []) }
        try files.finish(file, size: offset)
        count += 1
        let ours = ReceiptText.checksum(of: digest)
        whole[checksum] = ours
        return ours
    }

    /// Whether a text is a checksum and no other name of a file.
    private static func isChecksum(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "+/=-_".utf8.contains($0)
                }
            }
    }
}
