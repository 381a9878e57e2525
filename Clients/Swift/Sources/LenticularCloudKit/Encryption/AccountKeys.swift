import CloudKitTransport
import Foundation

/// The key of the signed-in user, as far as this device has it.
actor AccountKeys {
    private let container: String
    private let connection: ServiceConnection
    private let caller: CallerName
    private let store: any KeyStore
    /// The key, and whose it is.
    private var known: (name: String, held: HeldKey)?
    private var making: Task<AccountKey, any Error>?

    init(
        container: String, connection: ServiceConnection, caller: CallerName,
        store: any KeyStore = DeviceKeys.standard
    ) {
        self.container = container
        self.connection = connection
        self.caller = caller
        self.store = store
    }

    /// Looks for the key of the signed-in user.
    ///
    /// - Throws: `CKError`.
    func load() async throws -> AccountKey? { try await held()?.key }

    /// The key of the signed-in user, with what this device knows of it.
    ///
    /// - Throws: `CKError`.
    func held() async throws -> HeldKey? {
        let name = try await name()
        if let known, known.name == name { return known.held }
        do {
            let found = try store.key(of: name)
            known = found.map { (name, $0) }
            return found
        } catch {
            throw CKError(.internalError, "the device's keys cannot be read")
        }
    }

    /// The key of this device, made when there is none; saves that need it at once make one.
    func keyForWriting(
        _ make: @escaping @Sendable () async throws -> AccountKey
    ) async throws -> AccountKey {
        if let key = try await load() { return key }
        if let making { return try await making.value }
        let task = Task { try await make() }
        making = task
        defer { making = nil }
        return try await task.value
    }

    /// - Throws: `CKError` when the key cannot be written.
    func keep(_ held: HeldKey) async throws {
        let name = try await name()
        do {
            try store.keep(held, of: name)
        } catch {
            throw CKError(.internalError, "the device's keys cannot be written")
        }
        known = (name, held)
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
