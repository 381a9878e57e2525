import Accounts
import CloudModel
import Storage
import Synchronization
import Testing

@Suite("Revocation holds at once")
struct RevocationTests {
    @Test("A revoked API token lets nobody in any more, while a second one goes on")
    func apiToken() throws {
        let server = try TestServer()
        let old = try server.apiToken()
        let new = try server.apiToken()
        #expect(server.identify(query: "ckAPIToken=\(old.token)").fault == nil)
        try APITokens(catalog: server.catalog).revoke(name: old.record.name)
        let fault = server.identify(query: "ckAPIToken=\(old.token)").fault
        #expect(fault?.code == .authenticationFailed)
        #expect(server.identify(query: "ckAPIToken=\(new.token)").fault == nil)
    }

    @Test("Signing out ends every token of the session and no other")
    func session() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let ended = try server.webToken()
        let other = try server.webToken()
        server.now += 1_000_000
        func found(_ web: String) -> Identification {
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web)")
        }
        let identified = try #require(found(ended.token).identified)
        let successor = try #require(
            server.authenticator.renewedWebToken(identified, now: server.now))
        #expect(found(successor).fault == nil)
        try WebTokens(catalog: server.catalog).revoke(token: ended.token)
        #expect(found(ended.token).fault?.code == .authenticationRequired)
        #expect(found(successor).fault?.code == .authenticationRequired)
        #expect(found(other.token).fault == nil)
        try WebTokens(catalog: server.catalog).revoke(token: "unknown")
    }

    @Test("A session that was ended cannot be renewed by a request under way")
    func renewalAfterRevocation() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken()
        server.now += 1_000_000
        let query = "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)"
        let identified = try #require(server.identify(query: query).identified)
        #expect(identified.isRenewalDue)
        try WebTokens(catalog: server.catalog).revoke(token: web.token)
        #expect(server.authenticator.renewedWebToken(identified, now: server.now) == web.token)
        #expect(server.identify(query: query).fault?.code == .authenticationRequired)
        #expect(server.reported.count == 0)
    }

    @Test("Who signs in again and again ends the sessions of apps not used for the longest")
    func sessionsAtATime() throws {
        var settings = AccountsSettings()
        settings.appSessionsMax = 3
        let server = try TestServer(settings: settings)
        try server.user()
        let api = try server.apiToken().token
        let elsewhere = try server.webToken(environment: .production)
        func fault(_ web: WebTokens.Created) -> Fault? {
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)").fault
        }
        let first = try server.webToken()
        #expect(fault(first) == nil)
        var last = first
        for _ in 0..<3 {
            server.now += 1_000
            last = try server.webToken()
        }
        #expect(fault(first)?.code == .authenticationRequired)
        #expect(fault(last) == nil)
        let all = try server.catalog.webSessions(
            .environment(server.container, .production), livingAt: .min, ListRequest()
        ).items
        #expect(all.map(\.expiresAt) == [elsewhere.expiresAt])
    }

    @Test("An administrator ends all sessions of a user")
    func allSessions() throws {
        let server = try TestServer()
        try server.user()
        try server.user("mo@example.org")
        let api = try server.apiToken().token
        let webs = try (0..<3).map { _ in try server.webToken().token }
        let other = try server.webToken("mo@example.org").token
        for web in webs + [other] {
            #expect(server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web)").fault == nil)
        }
        try WebTokens(catalog: server.catalog).revokeAll(email: "IDA@example.org")
        for web in webs {
            let fault = server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web)").fault
            #expect(fault?.code == .authenticationRequired)
        }
        #expect(server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(other)").fault == nil)
    }

    @Test("A deleted user is out at once, and what the stores hold of them is named until done")
    func deletedUser() throws {
        let server = try TestServer()
        let account = try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken()
        let query = "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)"
        #expect(server.identify(query: query).fault == nil)
        let users = Users(catalog: server.catalog)
        let deletions = try users.delete(email: "ida@example.org")
        #expect(
            deletions == [
                AccountDeletion(
                    account: account.id, container: server.container,
                    userRecordName: web.userRecordName)
            ])
        #expect(server.identify(query: query).fault?.code == .authenticationRequired)
        #expect(
            try server.catalog.account(named: web.userRecordName, in: server.container) == nil)
        #expect(try users.unfinishedDeletions().items == deletions)
        try users.finish([deletions[0]])
        #expect(try users.unfinishedDeletions().items.isEmpty)
        // The address is free again, and the new account is another person to the container.
        let again = try server.user()
        #expect(again.id != account.id)
        #expect(try server.webToken().userRecordName != web.userRecordName)
    }

    @Test("Once a revocation has ended, no request on any thread is let in")
    func race() async throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let authenticator = server.authenticator
        let (container, now, catalog) = (server.container, server.now, server.catalog)
        for _ in 0..<20 {
            let web = try server.webToken().token
            let target = Array("/?ckAPIToken=\(api)&ckWebAuthToken=\(web)".utf8)
            let isRevoked = Flag()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var isLetIn = true
                        while isLetIn {
                            let mustBeOut = isRevoked.isSet
                            let found = authenticator.identify(
                                Credentials(target: target), container: container,
                                environment: .development, now: now)
                            isLetIn = found.fault == nil
                            #expect(!(mustBeOut && isLetIn))
                            if mustBeOut { break }
                            // Lets the revocation have a thread on a machine with few.
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    // Also where it fails, or the others would go on for ever.
                    defer { isRevoked.set() }
                    try WebTokens(catalog: catalog).revoke(token: web)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Deleting a container ends everything in it and nothing in another")
    func deletedContainer() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken()
        let containers = Containers(catalog: server.catalog)
        let other = try containers.create("iCloud.other", now: 0).id
        let kept = try APITokens(catalog: server.catalog).create(
            container: other, environment: .development, now: 0)
        #expect(
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)").fault == nil)
        try server.catalog.delete(server.container)
        let fault = server.identify(query: "ckAPIToken=\(api)").fault
        #expect(fault?.code == .authenticationFailed)
        #expect(try APITokens(catalog: server.catalog).list().items == [kept.record])
        #expect(try containers.list().items.map(\.id) == [other])
        #expect(throws: CatalogRefusal.containerUnknown) { try server.webToken() }
        #expect(
            try server.catalog.account(named: web.userRecordName, in: server.container) == nil)
    }
}

/// Set once, seen by every thread.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
