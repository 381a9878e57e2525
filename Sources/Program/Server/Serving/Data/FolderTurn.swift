import Files

/// What a data folder notes of its turns at a place that a copy of it, made by its files, would use too.
enum FolderTurn {
    private static let bytesMax = 1_024

    /// The turn that it had last, and perhaps one that it was about to take; empty for none.
    ///
    /// - Parameter file: where the folder keeps it.
    static func read(_ file: String, in folder: String) throws -> [String] {
        let path = "\(folder)/\(file)"
        guard try FileSystem.kind(of: path) == .file else { return [] }
        return try FileSystem.contents(of: path, bytesMax: bytesMax).split(separator: 0x0A).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Keeps them for good.
    static func write(_ turns: [String], to file: String, in folder: String) throws {
        let text = turns.map { $0 + "\n" }.joined()
        try FileSystem.write(Array(text.utf8), over: "\(folder)/\(file)")
        try FileSystem.synchronize(folder)
    }
}
