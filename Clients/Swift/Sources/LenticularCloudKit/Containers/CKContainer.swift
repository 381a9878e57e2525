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
    private let connection: ServiceConnection
    private let caller: CallerName
    let keys: AccountKeys

    /// A container whose server is named by the program.
    public convenience init(identifier: String, service: CKServerAccess) {
        self.init(
            identifier: identifier,
            connection: ServiceConnection(service, container: identifier))
    }

    /// A container whose server is named by the file that `LENTICULAR_SERVICE_FILE` names.
    ///
    /// Where that file says nothing of the container, requests fail with `badContainer`.
    public convenience init(identifier: String) {
        self.init(
            identifier: identifier,
            connection: ServiceConnection(
                ServiceFile.service(of: identifier), container: identifier))
    }

    init(identifier: String, connection: ServiceConnection) {
        containerIdentifier = identifier
        self.connection = connection
        caller = CallerName()
        keys = AccountKeys(container: identifier, connection: connection, caller: caller)
        let access = DatabaseAccess(
            container: identifier, connection: connection, caller: caller, keys: keys)
        privateCloudDatabase = CKDatabase(.private, access)
        publicCloudDatabase = CKDatabase(.public, access)
        sharedCloudDatabase = CKDatabase(.shared, access)
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
    public func accountStatus() async throws -> CKAccountStatus {
        do {
            _ = try await userRecordID()
            return .available
        } catch let error as CKError {
            switch error.code {
            case .notAuthenticated: return .noAccount
            case .networkUnavailable, .networkFailure, .serviceUnavailable:
                return .couldNotDetermine
            default: throw error
            }
        }
    }
}

/// Whether somebody is signed in.
public enum CKAccountStatus: Int, Sendable {
    case couldNotDetermine = 0
    case available
    case restricted
    case noAccount
    case temporarilyUnavailable
}
