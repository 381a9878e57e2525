import CloudKitTransport
import Foundation

/// The key that encrypts a person's values on their devices.
///
/// The first device makes the key, by itself when a value is first encrypted; the server keeps only what
/// is wrapped, as a record of the private zone `LenticularKeys`. Other devices unwrap it once, by the
/// recovery code or a passphrase, and keep it. Beyond Apple's framework, where the system does this.
public actor CKEncryption {
    /// How far a device has come.
    public enum Status: Sendable {
        /// No device has made a key yet.
        case notSetUp
        /// There is a key, which this device does not have.
        case locked
        /// Values can be read and written.
        case ready
    }

    private let database: CKDatabase

    private let onUnlock: @Sendable () -> Void

    /// - Parameter onUnlock: told once this device has got the key from the server.
    init(_ access: DatabaseAccess, onUnlock: @escaping @Sendable () -> Void = {}) {
        database = CKDatabase(.private, access)
        self.onUnlock = onUnlock
    }

    private var keys: AccountKeys { database.access.keys }

    /// Whether this device can read encrypted values.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func status() async throws -> Status {
        if try await keys.load() != nil { return .ready }
        return try await wrapped() == nil ? .notSetUp : .locked
    }

    /// Makes the key, and wraps it by a passphrase.
    ///
    /// - Returns: the recovery code, which opens the key when the passphrase is lost: to be shown once and kept
    ///   by its owner.
    /// - Throws: `CKError` `serverRecordChanged` when another device was first: unlock instead.
    public func setUp(passphrase: String) async throws -> String {
        try await make(passphrase: passphrase).code?.text ?? ""
    }

    /// The code that opens the key on another device; nil on devices that did not make the key.
    ///
    /// - Throws: `CKError`.
    public func recoveryCode() async throws -> String? { try await keys.held()?.code?.text }

    /// Wraps the key by a passphrase, in place of a former one; on a device that has the key.
    ///
    /// - Throws: `CKError` `accountTemporarilyUnavailable` while this device is locked.
    public func setPassphrase(_ passphrase: String) async throws {
        guard let key = try await keys.load(), let record = try await record(),
            let wrapped = WrappedKey(record)
        else { throw Self.locked }
        try wrapped.rewrap(key, passphrase: passphrase, in: record)
        try await database.save(record)
    }

    /// Unwraps the key by its passphrase, and keeps it on this device.
    ///
    /// `CKAccountChanged` is posted, and engines of this container send what has waited for the key.
    ///
    /// - Throws: `CKError` `permissionFailure` for a wrong passphrase, `unknownItem` before `setUp`.
    public func unlock(passphrase: String) async throws {
        try await unlock { HeldKey(key: try $0.key(passphrase: passphrase), code: nil) }
    }

    /// Unwraps the key by its recovery code, and keeps it on this device.
    ///
    /// `CKAccountChanged` is posted, as for a passphrase.
    ///
    /// - Throws: `CKError` `permissionFailure` for a wrong code, `unknownItem` before `setUp`.
    public func unlock(recoveryCode: String) async throws {
        let code = RecoveryCode(recoveryCode)
        try await unlock { HeldKey(key: try $0.key(code: code), code: code) }
    }

    /// Forgets the key on this device; the others keep theirs.
    ///
    /// - Throws: `CKError` when nobody is signed in, and what the device's store reports.
    public func lock() async throws { try await keys.forget() }

    static let locked = CKError(
        .accountTemporarilyUnavailable,
        "encryptedValues: another device has made the key; unlock it here first")

    /// The key of this device, made when no device has one.
    ///
    /// - Throws: `CKError` `accountTemporarilyUnavailable` when another device has made it.
    func keyForWriting() async throws -> AccountKey {
        try await keys.keyForWriting { try await self.firstKey() }
    }

    private func firstKey() async throws -> AccountKey {
        do {
            return try await make(passphrase: nil).key
        } catch let error as CKError where error.code == .serverRecordChanged {
            // Another container of this device may have been first, and be about to keep it.
            for _ in 0..<Self.looksMax {
                if let key = try await keys.load() { return key }
                try await Task.sleep(nanoseconds: Self.betweenLooksNanoseconds)
            }
            throw Self.locked
        }
    }

    private static let looksMax = 5
    private static let betweenLooksNanoseconds: UInt64 = 100_000_000

    private func make(passphrase: String?) async throws -> HeldKey {
        let held = HeldKey(key: .random(), code: .random())
        let record = try WrappedKey.record(of: held, passphrase: passphrase)
        try await database.save(CKRecordZone(zoneID: WrappedKey.zone))
        try await database.save(record)
        try await keys.keep(held)
        return held
    }

    private func unlock(_ open: (WrappedKey) throws -> HeldKey) async throws {
        guard let wrapped = try await wrapped() else {
            throw CKError(.unknownItem, "no device has made a key yet")
        }
        do {
            try await keys.keep(try open(wrapped))
            onUnlock()
        } catch is SealedBytes.Unreadable {
            throw CKError(.permissionFailure, "the passphrase or code does not open the key")
        }
    }

    private func wrapped() async throws -> WrappedKey? {
        try await record().flatMap { WrappedKey($0) }
    }

    private func record() async throws -> CKRecord? {
        do {
            return try await database.record(for: WrappedKey.recordID)
        } catch let error as CKError
            where error.code == .unknownItem || error.code == .zoneNotFound
        {
            return nil
        }
    }
}

extension CKContainer {
    /// The key that encrypts `encryptedValues` on this device.
    public var encryption: CKEncryption {
        CKEncryption(access) {
            NotificationCenter.default.post(name: .CKAccountChanged, object: self)
        }
    }
}
