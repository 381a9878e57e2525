import CloudKitTransport
import Foundation

/// The key of whoever is signed in, as far as this device has it.
actor AccountKeys {
    private let container: String
    private let connection: ServiceConnection
    private let caller: CallerName
    private let store: any KeyStore
    private var known: AccountKey?

    init(
        container: String, connection: ServiceConnection, caller: CallerName,
        store: any KeyStore = KeyFolder.standard
    ) {
        self.container = container
        self.connection = connection
        self.caller = caller
        self.store = store
    }

    /// Looks for the key of whoever is signed in.
    ///
    /// - Throws: `CKError`.
    func load() async throws -> AccountKey? {
        if let known { return known }
        let name = try await name()
        do {
            known = try store.key(of: name)
        } catch {
            throw CKError(.internalError, "the device's keys cannot be read")
        }
        return known
    }

    func keep(_ key: AccountKey) async throws {
        try store.keep(key, of: try await name())
        known = key
    }

    func forget() async throws {
        try store.forget(try await name())
        known = nil
    }

    /// Who the key belongs to: a person is another one in each container and on each server.
    private func name() async throws -> String {
        do {
            let server = connection.shareLinks?.absoluteString ?? ""
            return "\(server) \(container) \(try await caller.name(by: connection))"
        } catch {
            throw CKError(error)
        }
    }
}
