import CloudModel
import Foundation
import Storage
import Testing

@testable import Server

/// Stores that are opened while their disk has no room left.
@Suite("Opening a store on a full disk")
struct FullDiskStoresTests {
    private final class Scene {
        let disk: SmallDisk
        let server: FolderServer
        let containers: [ContainerID]

        /// Nil when this process may not mount.
        init?() throws {
            guard let disk = try SmallDisk.make(bytes: 32 << 20) else { return nil }
            self.disk = disk
            let server = try FolderServer(data: disk.folder.path("data")) {
                $0.storage.storesOpenMax = 1
            }
            self.server = server
            containers = try (0..<3).map {
                try server.folder.containers.create("iCloud.n\($0)", now: 1).id
            }
        }

        deinit { server.stop() }

        func store(_ number: Int) throws -> LeasedStore {
            try server.folder.stores.store(of: containers[number], in: .development)
        }

        func makeZone(_ number: Int) throws {
            try store(number).writeAndWait { transaction in
                guard let name = ZoneName("z") else { return }
                _ = try transaction.makeZone(named: name, ofOwnerNamed: .publicOwner)
            }
        }

        func zones(_ number: Int) throws -> [String] {
            try store(number).read { try $0.zones(of: OwnerNumber(0)).map(\.name.text) }
        }

        /// Opens another store, and waits until this one has been closed for it.
        func close(_ number: Int, by other: Int) throws {
            let key = StoreKey(containers[number], .development)
            let cache = server.folder.stores.cache
            let end = Date().addingTimeInterval(120)
            while cache.open.contains(where: { $0.key == key }) {
                try #require(Date() < end, "the store stays open")
                // One that is at work stays, and the other is closed in its place: it is opened again.
                _ = try store(other)
                cache.closeSurplus()
                sched_yield()
            }
        }
    }

    @Test("A first store is refused for want of room, and made when there is some")
    func first() throws {
        guard let scene = try Scene() else { return }
        #expect(scene.disk.fill())
        for _ in 0..<3 {
            #expect(throws: StorageFailure.full) { _ = try scene.store(0) }
        }
        scene.disk.empty()
        try scene.makeZone(0)
        #expect(try scene.zones(0) == ["z"])
        #expect(try scene.server.folder.problems() == [])
    }

    @Test("A closed store is refused for want of room, never taken for damaged, and has all it had")
    func previous() throws {
        guard let scene = try Scene() else { return }
        try scene.makeZone(1)
        try scene.close(1, by: 2)
        #expect(scene.disk.fill())
        for _ in 0..<3 {
            do {
                // Where there happens to be enough room for it, it is there.
                #expect(try scene.zones(1) == ["z"])
            } catch {
                #expect(error as? StorageFailure == .full, "\(error)")
            }
        }
        scene.disk.empty()
        #expect(try scene.zones(1) == ["z"])
        #expect(try scene.server.folder.problems() == [])
    }
}
