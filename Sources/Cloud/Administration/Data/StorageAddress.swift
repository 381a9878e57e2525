/// Where an engine keeps a server's data, as an operator names it.
package enum StorageAddress: Equatable, Sendable {
    /// `sqlite:FOLDER`, a data folder.
    case folder(String)
    /// `postgresql://…`, with whatever stands in it.
    case database(url: String)

    private static let folderStart = "sqlite:"
    private static let databaseStarts = ["postgresql://", "postgres://"]

    /// - Throws: `StorageAddressRefusal` for a text of another form.
    package init(_ text: String) throws(StorageAddressRefusal) {
        if text.hasPrefix(Self.folderStart) {
            let path = text.dropFirst(Self.folderStart.count)
            guard !path.isEmpty else { throw .unknownForm }
            self = .folder(String(path))
        } else if Self.databaseStarts.contains(where: { text.hasPrefix($0) }) {
            self = .database(url: text)
        } else {
            throw .unknownForm
        }
    }

    /// The text with its folder made absolute; nil for a text that is no address of a folder.
    package static func absolute(_ text: String, _ absolute: (String) -> String) -> String? {
        // NB: what is no address is refused where it is used as one.
        switch try? StorageAddress(text) {
        case .folder(let path): folderStart + absolute(path)
        case .database: text
        case nil: nil
        }
    }
}

/// Why data cannot be copied from an address or to it.
package enum StorageAddressRefusal: Error, Sendable, CustomStringConvertible {
    case unknownForm
    case unusableURL

    package var description: String {
        switch self {
        case .unknownForm:
            "an address is sqlite:FOLDER, the data folder of a server, or the postgresql://… of its settings"
        case .unusableURL:
            "the database is named as in storage.postgresURL, postgresql://USER@HOST/DATABASE without a password"
        }
    }
}
