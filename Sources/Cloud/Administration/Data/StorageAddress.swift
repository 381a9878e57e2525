/// Where an engine keeps a server's data, as an operator names it.
package enum StorageAddress: Equatable, Sendable {
    /// `sqlite:FOLDER`, a data folder.
    case folder(String)
    /// `postgresql://…`
    case database

    private static let folderStart = "sqlite:"
    private static let databaseStarts = ["postgresql:", "postgres:"]

    /// Nil for a text of another form.
    package init?(_ text: String) {
        if text.hasPrefix(Self.folderStart) {
            let path = text.dropFirst(Self.folderStart.count)
            guard !path.isEmpty else { return nil }
            self = .folder(String(path))
        } else if Self.databaseStarts.contains(where: { text.hasPrefix($0) }) {
            self = .database
        } else {
            return nil
        }
    }

    /// The text with its folder made absolute; nil for a text that is no address.
    package static func absolute(_ text: String, _ absolute: (String) -> String) -> String? {
        switch StorageAddress(text) {
        case .folder(let path): folderStart + absolute(path)
        case .database: text
        case nil: nil
        }
    }
}

/// Why data cannot be copied from an address or to it.
package enum StorageAddressRefusal: Error, Sendable, CustomStringConvertible {
    case unknownForm
    case database

    package var description: String {
        switch self {
        case .unknownForm: "an address is sqlite:FOLDER, the data folder of a server"
        case .database: "storage in PostgreSQL cannot be copied yet, from there nor to there"
        }
    }
}

extension StorageAddress {
    /// The folder of an address that something can be copied from or to.
    ///
    /// - Throws: `StorageAddressRefusal`.
    package static func folder(of text: String) throws(StorageAddressRefusal) -> String {
        switch StorageAddress(text) {
        case .folder(let path): return path
        case .database: throw .database
        case nil: throw .unknownForm
        }
    }
}
