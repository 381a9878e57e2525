import Administration
import CloudModel
import Control
import Files
import Storage

// Containers that move to other servers.
extension DataFolder {
    /// What the mark of a container says while it is copied, and from then on.
    private static let marks = (copying: "copying", moved: "moved")

    package func copyStorage(
        _ request: CopyRequest, _ progress: CheckProgress
    ) throws -> CopyReport {
        try requireOwn(request.source)
        let containers = try request.container.map { [$0] } ?? allContainers()
        for container in containers {
            for environment in Environment.allCases {
                let target = ContainerEnvironment(container, environment)
                guard try findings(of: [target])[target] != .missing else {
                    throw StorageFailure.missing
                }
            }
        }
        let target = try CopyTarget(request, from: self)
        defer { target.close() }
        for container in containers { try takeOut(container) }
        let copy = StorageCopy(from: self, to: target, progress)
        try copy.run(containers, isAll: request.container == nil)
        for container in containers { try mark(container, Self.marks.moved) }
        return copy.report
    }

    package func reopen(
        _ container: ContainerID?, in source: StorageAddress
    ) throws -> [ContainerID] {
        try requireOwn(source)
        let marked = try (container.map { [$0] } ?? allContainers()).filter {
            try catalog.container($0)?.isElsewhere == true
        }
        for container in marked {
            for key in try engine.stores(of: container) {
                try stores.alone(key, refusing: StorageFailure.moved) {
                    try engine.beginLife(of: key)
                }
            }
            try mark(container, nil)
        }
        return marked
    }

    /// Refuses another address than that of this server's data, which a caller elsewhere may name.
    private func requireOwn(_ address: StorageAddress) throws(CommandFailure) {
        guard isOwn(address) else {
            throw CommandFailure(
                "--from names other data than this server's, which are at \(configuration.dataAddress); name "
                    + "another server's settings by --config")
        }
    }

    private func isOwn(_ address: StorageAddress) -> Bool {
        switch (configuration.storage.engine, address) {
        case (.sqlite, .folder(let folder)): FileSystem.isSame(folder, path)
        case (.postgres, .database(let url)): url == configuration.storage.postgresURL
        default: false
        }
    }

    private func allContainers() throws -> [ContainerID] {
        var found: [ContainerID] = []
        try ListPage.forEach(catalog.containers) { found.append($0.id) }
        return found
    }

    /// Takes a container out of use: from then on nothing of it changes.
    private func takeOut(_ container: ContainerID) throws {
        try mark(container, Self.marks.copying)
        for environment in Environment.allCases {
            try stores.alone(StoreKey(container, environment), refusing: StorageFailure.moved) {}
        }
    }

    private func mark(_ container: ContainerID, _ mark: String?) throws {
        try catalog.set([ContainerRecord.movedKey: mark], of: container)
    }
}

extension Stores {
    /// Closes a store and runs a body while nobody has it open; who waits for it finds that out.
    func alone(
        _ key: Key, refusing error: any Error, _ body: () throws -> Void
    ) throws {
        let opened = cache.take(key, refusing: error)
        defer { cache.give(back: key) }
        if let opened { keeper.close(key, opened, isUnused: false) }
        keeper.beginAnew(key)
        try body()
    }
}
