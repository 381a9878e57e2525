import Accounts
import CloudModel
import Dispatch
import Foundation
import SQLiteStorage
import Storage
import Synchronization
import Testing

@Suite("Minting web tokens at the same time")
struct MintingTests {
    @Test("64 first sights of one external user at once make one account")
    func race() throws {
        let server = try TestServer()
        let (container, now) = (server.container, server.now)
        let tokens = try WebTokens(catalog: server.catalog, settings: server.settings)
        let user = try ExternalUser(
            externalID: "u", givenName: "Noor", familyName: nil, email: "noor@example.org")
        let names = Mutex<[UserRecordName]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            let made = try? tokens.mint(
                for: .external(user), container: container, environment: .development, now: now)
            if let made { names.withLock { $0.append(made.userRecordName) } }
        }
        #expect(names.withLock { $0.count } == 64)
        #expect(names.withLock { Set($0).count } == 1)
        #expect(try server.catalog.accounts(ListRequest()).items.count == 1)
        #expect(try server.catalog.accounts(ListRequest()).items.first?.addresses.count == 1)
        #expect(try CatalogCheck(path: server.catalog.path).problems().isEmpty)
    }
}
