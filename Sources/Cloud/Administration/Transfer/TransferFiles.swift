/// The files of an export or an import, where the command was typed; a file that the command names, and those beside it.
///
/// Everything here blocks.
package protocol TransferFiles: Sendable {
    /// How long a file is; nil when there is none.
    func size(of file: TransferFile) throws -> Int64?
    /// A piece of a file; empty at its end.
    func read(_ file: TransferFile, at offset: Int64) throws -> [UInt8]
    /// Writes at a place of a file, which is made when there is none, for its owner alone.
    func write(_ file: TransferFile, at offset: Int64, _ bytes: [UInt8]) throws
    /// Cuts a file to a length, and returns once the disk has it.
    func finish(_ file: TransferFile, size: Int64) throws
    /// Says how far the work has come; false when nobody waits for it any more.
    func tell(_ progress: String) -> Bool
    /// Waits for something, without keeping other commands from running.
    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// One of the files of an export or an import.
package enum TransferFile: Sendable, Equatable {
    case main
    /// In the folder beside it.
    case beside(String)

    /// Of an asset, by the checksum that its record shows.
    static func asset(checksum: String) -> TransferFile {
        .beside(
            String(
                checksum.map { character -> Character in
                    switch character {
                    case "/": "_"
                    case "+": "-"
                    default: character
                    }
                }))
    }

    /// How far an import of the file has come.
    static let importProgress = TransferFile.beside("import.progress")
}

/// Nobody waits for an export or an import any more; what it has done stays, and it can be taken up again.
package struct TransferAbandoned: Error, CustomStringConvertible {
    package let description = "interrupted; run the same command again to go on"

    package init() {}
}

/// How an export is written down.
package enum TransferFormat: String, Sendable, CaseIterable {
    /// A record a line, as `records/lookup` answers it, and lines of other kinds.
    case jsonl
    /// A table of the records of one type.
    case csv
}

extension TransferFiles {
    /// Goes through a file piece by piece.
    func readAll(_ file: TransferFile, _ body: ([UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        while true {
            let piece = try read(file, at: offset)
            guard !piece.isEmpty else { return }
            try body(piece)
            offset += Int64(piece.count)
        }
    }
}
