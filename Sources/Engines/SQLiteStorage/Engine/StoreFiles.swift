import CloudModel
import Files
import Storage

/// Where the files of stores are, and what is done to whole folders of them.
struct StoreFiles: Sendable {
    /// Ends the name of files that are not in their place yet.
    private static let freshSuffix = "~fresh"
    /// Ends the name of files that are on their way out; no container's name has such a sign.
    static let asideSuffix = "~deleted"
    /// Ends the name of a folder that was put out of the way.
    private static let straySuffix = "~stray"

    static let catalogName = "catalog.sqlite"
    static let storeName = "store.sqlite"

    let folder: String

    var catalogPath: String { "\(folder)/\(Self.catalogName)" }

    func path(of part: EnginePart) -> String {
        switch part {
        case .catalog: catalogPath
        case .store(let key): path(of: key)
        }
    }

    /// Where a store's file is; a container has one folder, whatever its name's case.
    func path(of key: StoreKey) -> String { "\(location(of: key))/\(Self.storeName)" }

    /// The folder of an environment.
    func location(of key: StoreKey) -> String {
        "\(location(of: key.container))/\(key.environment.rawValue)"
    }

    func location(of container: ContainerID) -> String { "\(containers)/\(container.folded)" }

    private var containers: String { "\(folder)/containers" }

    /// Names below `containers`, folders of deleted containers with them.
    func names() throws -> [String] {
        guard try FileSystem.kind(of: containers) == .folder else { return [] }
        return try FileSystem.names(in: containers)
    }

    func hasFile(_ key: StoreKey) throws -> Bool {
        try FileSystem.kind(of: path(of: key)) == .file
    }

    /// Folders below `containers` with a store in them, but for those of known stores.
    func strays(isKnown: (StoreKey) throws -> Bool) throws -> [String] {
        var found: [String] = []
        for name in try names() {
            let container = "\(containers)/\(name)"
            guard try FileSystem.kind(of: container) == .folder else { continue }
            for environment in try FileSystem.names(in: container) {
                let location = "\(container)/\(environment)"
                guard try FileSystem.kind(of: "\(location)/\(Self.storeName)") != nil else {
                    continue
                }
                if let id = ContainerID(name), let environment = Environment(rawValue: environment),
                    case let key = StoreKey(id, environment), self.location(of: key) == location,
                    try isKnown(key)
                {
                    continue
                }
                found.append(location)
            }
        }
        return found
    }

    /// Brings the names of a store's file and of the folders above it to the disk.
    func synchronizeFolders(above key: StoreKey) throws {
        let location = location(of: key)
        for number in 0..<3 {
            try FileSystem.synchronize(location + String(repeating: "/..", count: number))
        }
    }

    /// Puts a store's folder out of the way.
    ///
    /// - Returns: where it is now.
    func putAside(_ key: StoreKey) throws -> String {
        let location = location(of: key)
        var aside = location + Self.straySuffix
        var number = 1
        while try FileSystem.kind(of: aside) != nil {
            number += 1
            aside = "\(location)\(Self.straySuffix)-\(number)"
        }
        try FileSystem.move(location, to: aside)
        return aside
    }

    /// Removes a container's files.
    ///
    /// They are put aside first: after a crash at any moment a container made again under the name finds
    /// nothing of the old one's.
    ///
    /// - Parameter forget: run when they are aside; when it throws, they are put back.
    func remove(_ container: ContainerID, forgetting forget: () throws -> Void) throws {
        let location = location(of: container)
        let aside = location + Self.asideSuffix
        try FileSystem.removeTree(aside)
        let hasFiles = try FileSystem.kind(of: location) != nil
        if hasFiles { try FileSystem.move(location, to: aside) }
        do { try forget() } catch {
            if hasFiles { try FileSystem.move(aside, to: location) }
            throw error
        }
    }

    /// Removes what `remove` has put aside.
    func finishRemoval(of name: String) throws {
        try FileSystem.removeTree("\(containers)/\(name)\(Self.asideSuffix)")
    }

    /// Puts new files in the place of a store's.
    ///
    /// They are made beside the old ones: after a crash at any moment the store is as it was, or new.
    ///
    /// - Parameter make: makes the file at a path.
    func replace(_ key: StoreKey, _ make: (String) throws -> Void) throws {
        let location = location(of: key)
        let (fresh, aside) = (location + Self.freshSuffix, location + Self.asideSuffix)
        try FileSystem.removeTree(fresh)
        try FileSystem.removeTree(aside)
        try FileSystem.makeFolder(fresh)
        try make("\(fresh)/\(Self.storeName)")
        try FileSystem.synchronize(fresh)
        try FileSystem.move(location, to: aside)
        do { try FileSystem.move(fresh, to: location) } catch {
            try FileSystem.move(aside, to: location)
            throw error
        }
        try FileSystem.synchronize(self.location(of: key.container))
        try FileSystem.removeTree(aside)
    }

    /// Puts the new files of a store in their place when only that was left to do.
    ///
    /// What else there is beside the place is removed.
    func finishReplacing(_ key: StoreKey) throws {
        let location = location(of: key)
        let fresh = location + Self.freshSuffix
        if try FileSystem.kind(of: fresh) != nil {
            if try FileSystem.kind(of: location) == nil {
                try FileSystem.move(fresh, to: location)
            } else {
                try FileSystem.removeTree(fresh)
            }
        }
        try FileSystem.removeTree(location + Self.asideSuffix)
    }
}
