#if PostgreSQL
    import AssetStorage
    import Awaiting
    import CloudModel
    import Configuration
    import Foundation
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    @testable import Server

    /// A container whose records are in PostgreSQL, and whose assets are in a folder that servers share.
    @Suite("Deletion of a container on PostgreSQL with assets in a folder")
    final class PostgresDeletionTests {
        private struct Cut: Error {}

        private let people: FolderPeople
        private let configure: (inout ServerConfiguration) -> Void
        private let container: ContainerID

        init() throws {
            let database = try PostgreSQLServer.shared()
            let name = database.newDatabaseName()
            try Connection(ConnectionOptions(address: database.address(of: "postgres"))).run(
                script: "CREATE DATABASE \(name) TEMPLATE template0")
            let url = "postgresql:///\(name)?host=\(database.folder)&user=postgres"
            configure = {
                $0.storage.engine = .postgres
                $0.storage.postgresURL = url
            }
            people = try FolderPeople(configure)
            container = try #require(ContainerID("iCloud.a"))
            try save("a")
        }

        private func save(_ name: String) throws {
            var record = FolderPeople.note(name, "text")
            let file = try people.upload("file of \(name)", as: "ann")
            record["fields"] = ["t": ["value": "text"], "f": ["value": file]]
            let saved = try people.modify("ann", [("create", record)])
            #expect(saved.first?["recordName"] as? String == name, "\(saved)")
            #expect(try people.files().count == 1)
        }

        private var folder: String { "\(people.data)/containers/icloud.a" }

        private func expectGone() throws {
            let left = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String]
            #expect(!FileManager.default.fileExists(atPath: folder), "\(left ?? [])")
        }

        @Test("Its files go with it, and a container of its name has its own")
        func files() throws {
            try people.server.folder.deleteContainer(container)
            try expectGone()
            _ = try people.server.folder.containers.create("iCloud.a", now: 2)
            let stores = people.server.folder.stores
            _ = try stores.store(of: container, in: .development)
            try upload(to: stores).place()
            try stores.recover()
            #expect(try people.files().count == 1)
        }

        /// A file that is whole and not in place.
        private func upload(to stores: Stores) throws -> any AssetUpload {
            let assets = stores.assetStore(of: Stores.Key(container, .development))
            let upload = try assets.storage.begin(expectedBytes: 1)
            try [UInt8](repeating: 1, count: 1).withUnsafeBytes { try upload.append($0) }
            _ = try upload.seal()
            return upload
        }

        @Test("So they do while another server has it open, and has a file on its way")
        func beside() throws {
            let data = people.temporary.path("beside")
            let files = FileManager.default
            try files.createDirectory(atPath: data, withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: "\(data)/containers", withDestinationPath: "\(people.data)/containers")
            try files.copyItem(
                atPath: "\(people.data)/secrets.key", toPath: "\(data)/secrets.key")
            let other = try FolderServer(data: data, configure: configure)
            defer { other.stop() }
            let target = "/database/1/iCloud.a/development/private/records/lookup"
            func look() throws -> (status: Int, answer: [String: Any]) {
                try other.ask(
                    target + (people.queries["ann"] ?? ""),
                    ["zoneID": ["zoneName": "z"], "records": [["recordName": "a"]]])
            }
            #expect(try look().status == 200)
            let store = try other.folder.stores.store(of: container, in: .development)
            let upload = try upload(to: other.folder.stores)

            try people.server.folder.deleteContainer(container)
            try expectGone()
            #expect(try look().status != 200)
            #expect(throws: (any Error).self) { try upload.place() }
            upload.discard()
            #expect(throws: (any Error).self) { try store.read { try $0.identity } }
            #expect(try people.files() == [])
        }

        @Test("Where they cannot be removed at first, the process that leads tries again")
        func failed() throws {
            #expect(throws: Cut.self) {
                try people.server.folder.engine.remove(container) { _ in throw Cut() }
            }
            let files = FileManager.default
            let (containers, away) = ("\(people.data)/containers", "\(people.data)/away")
            try files.moveItem(atPath: containers, toPath: away)
            #expect(files.createFile(atPath: containers, contents: nil))
            let lines = people.temporary.path("log")
            #expect(files.createFile(atPath: lines, contents: nil))
            let sink = try #require(FileHandle(forWritingAtPath: lines))
            let log = Log(format: .json, descriptor: sink.fileDescriptor, clock: .system)
            let removals = UnfinishedRemovals(
                people.server.folder.stores, log: log, pauseMilliseconds: 10)
            defer { removals.stop() }
            try Wait.until {
                log.flush(withinSeconds: 60)
                return try String(contentsOfFile: lines, encoding: .utf8)
                    .contains("left of a deleted container")
            }
            try files.removeItem(atPath: containers)
            try files.moveItem(atPath: away, toPath: containers)
            try Wait.until { !files.fileExists(atPath: folder) }
        }

        @Test("Those that a killed process has left go with the next start")
        func killed() throws {
            // What is there after a kill between the catalog and the files.
            #expect(throws: Cut.self) {
                try people.server.folder.engine.remove(container) { _ in throw Cut() }
            }
            #expect(try people.files().count == 1)
            people.server.stop()
            let next = try FolderServer(data: people.data, configure: configure)
            defer { next.stop() }
            try expectGone()
        }
    }
#endif
