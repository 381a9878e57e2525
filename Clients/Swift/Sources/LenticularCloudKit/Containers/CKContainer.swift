import CloudKitTransport
import Foundation

/// One app's data on one server, as one person or program sees it.
///
/// Several containers with the same identifier may stand for several people, each with a service of their own.
public final class CKContainer: NSObject, Sendable {
    /// The app's name on the server.
    public let containerIdentifier: String?
    /// The caller's own data.
    public let privateCloudDatabase: CKDatabase
    /// What everybody shares.
    public let publicCloudDatabase: CKDatabase
    /// What others share with the caller.
    public let sharedCloudDatabase: CKDatabase
    let connection: ServiceConnection
    let access: DatabaseAccess

    private var caller: CallerName { access.caller }

    var keys: AccountKeys { access.keys }

    /// A container whose server is named by the program.
    public convenience init(identifier: String, service: CKServerAccess) {
        self.init(
            identifier: identifier,
            connection: ServiceConnection(service, container: identifier))
    }

    /// A container whose server is named by the file that `LENTICULAR_SERVICE_FILE` names.
    ///
    /// Successors of the file's token are kept on this device for the next run of the program. Where the file says
    /// nothing of the container, requests fail with `badContainer`.
    public convenience init(identifier: String) {
        let service = ServiceFile.service(of: identifier)
        self.init(
            identifier: identifier,
            connection: ServiceConnection(
                service.map { RenewedToken.resume($0, in: try? DeviceStore.store()) },
                container: identifier))
    }

    /// The container of an app that has one: the only one in the file that `LENTICULAR_SERVICE_FILE` names, else
    /// `iCloud.` and the program's bundle identifier.
    public static func `default`() -> CKContainer { standard }

    private static let standard = CKContainer(
        identifier: ServiceFile.onlyContainer
            ?? "iCloud.\(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)")

    package convenience init(
        identifier: String, connection: ServiceConnection, keyFolder: URL? = nil,
        assetFolder: URL? = nil
    ) {
        let caller = CallerName()
        let store: any KeyStore = keyFolder.map { KeyFolder(folder: $0) } ?? DeviceKeys.standard
        self.init(
            identifier: identifier,
            access: DatabaseAccess(
                container: identifier, connection: connection, caller: caller,
                keys: AccountKeys(
                    container: identifier, connection: connection, caller: caller, store: store),
                assets: assetFolder.map { AssetCache(folder: $0) } ?? .standard),
            settings: .convenience)
        connection.observeAccount { [weak self] in
            Task { await self?.accountMayHaveChanged() }
        }
    }

    private init(identifier: String, access: DatabaseAccess, settings: RequestSettings) {
        NativeClassNames.areKnown
        containerIdentifier = identifier
        connection = access.connection
        self.access = access
        privateCloudDatabase = CKDatabase(.private, access, settings)
        publicCloudDatabase = CKDatabase(.public, access, settings)
        sharedCloudDatabase = CKDatabase(.shared, access, settings)
    }

    /// The same container with other settings for its requests.
    func with(_ settings: RequestSettings) -> CKContainer {
        CKContainer(
            identifier: containerIdentifier ?? "", access: access, settings: settings)
    }

    private func accountMayHaveChanged() async {
        guard await caller.hasChanged(by: connection) else { return }
        NotificationCenter.default.post(name: .CKAccountChanged, object: self)
    }

    /// A database by its scope: the same object as the property.
    public func database(with scope: CKDatabase.Scope) -> CKDatabase {
        switch scope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }

    /// The record that stands for the person who is signed in.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is.
    public func userRecordID() async throws -> CKRecord.ID {
        do {
            return CKRecord.ID(recordName: try await caller.name(by: connection))
        } catch {
            throw CKError(error)
        }
    }

    /// Whether somebody is signed in.
    ///
    /// - Throws: `CKError` for what has nothing to do with accounts, such as `badContainer`.
    public func accountStatus() async throws -> CKAccountStatus {
        do {
            _ = try await userRecordID()
            return .available
        } catch let error as CKError {
            switch error.code {
            case .notAuthenticated: return .noAccount
            case .accountTemporarilyUnavailable: return .temporarilyUnavailable
            case .networkUnavailable, .networkFailure, .serviceUnavailable:
                return .couldNotDetermine
            default: throw error
            }
        }
    }
}

/// Whether somebody is signed in.
public enum CKAccountStatus: Int, Sendable {
    /// The server could not be asked.
    case couldNotDetermine = 0
    /// Somebody is signed in.
    case available
    /// Somebody may not use the server; this one never says so.
    case restricted
    /// Nobody is signed in.
    case noAccount
    /// Somebody is signed in, and must confirm it first.
    case temporarilyUnavailable
}

extension Notification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Posted by a container, as its object, when somebody else is signed in than before, or nobody any more.
    public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
