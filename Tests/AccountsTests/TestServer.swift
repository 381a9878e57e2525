import Accounts
import CloudModel
import Cryptography
import Foundation
import SQLiteStorage
import Storage
import Synchronization

/// A catalog in a folder of its own with an authenticator over it, and a time that tests set.
final class TestServer {
    let folder: URL
    let catalog: SQLiteCatalog
    let authenticator: Authenticator
    let settings: AccountsSettings
    var now: Milliseconds = 1_767_225_600_000  // 2026-01-01T00:00:00Z
    let container: ContainerID
    let reported: Reported

    init(settings: AccountsSettings = AccountsSettings()) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "accounts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        catalog = try SQLiteCatalog(path: folder.appending(path: "catalog.sqlite").path) { _ in }
        let reported = Reported()
        self.reported = reported
        self.settings = settings
        authenticator = try Authenticator(
            catalog: catalog, settings: settings, publicBaseURL: "https://sync.example",
            report: { reported.add($0) })
        container = try Containers(catalog: catalog).create("iCloud.org.example.Tea", now: now).id
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Another authenticator over the same catalog, as after a restart.
    func restarted() throws -> Authenticator {
        try Authenticator(
            catalog: SQLiteCatalog(path: catalog.path) { _ in },
            settings: settings, publicBaseURL: "https://sync.example", report: { _ in })
    }

    func apiToken(
        origins: [String] = [], environment: CloudModel.Environment = .development
    ) throws -> APITokens.Created {
        try APITokens(catalog: catalog).create(
            container: container, environment: environment, origins: origins, now: now)
    }

    @discardableResult
    func user(_ email: String = "ida@example.org") throws -> AccountRecord {
        try Users(catalog: catalog).create(email: email, givenName: "Ida", now: now)
    }

    func webToken(
        _ email: String = "ida@example.org", seconds: Int? = nil,
        environment: CloudModel.Environment = .development
    ) throws -> WebTokens.Created {
        try WebTokens(catalog: catalog, settings: settings).create(
            container: container, environment: environment, email: email, seconds: seconds,
            now: now)
    }

    func identify(_ credentials: Credentials, in container: ContainerID? = nil) -> Identification {
        authenticator.identify(
            credentials, container: container ?? self.container, environment: .development,
            now: now)
    }

    /// Identifies by a query alone.
    func identify(query: String, origin: String? = nil) -> Identification {
        identify(Credentials(target: Array("/database/1/x?\(query)".utf8), origin: origin))
    }
}

/// The failures that an authenticator told of.
final class Reported: Sendable {
    private let errors = Mutex<[String]>([])

    func add(_ error: any Error) { errors.withLock { $0.append("\(error)") } }

    var count: Int { errors.withLock { $0.count } }
}

extension Identification {
    var identified: Identified? { try? result.get() }

    var fault: Fault? {
        if case .failure(let fault) = result { return fault }
        return nil
    }
}

/// A generator that repeats itself for a seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension Credentials {
    /// Those of a request of which a test knows the target.
    init(
        target: [UInt8], keyID: String? = nil, date: String? = nil, signature: String? = nil,
        webToken: String? = nil, repeatedHeader: String? = nil, origin: String? = nil,
        body: SignedBody = .bytes([])
    ) {
        self.init(
            query: QueryString(target: target), keyID: keyID, date: date, signature: signature,
            webToken: webToken, repeatedHeader: repeatedHeader, origin: origin, body: body)
    }
}
