#if !canImport(CryptoKit)
    import CloudKitTransport
    import Foundation

    /// The key that encrypts a person's values on their devices.
    ///
    /// The first device makes the key and wraps it by a passphrase and by a recovery code; the server keeps
    /// only what is wrapped, as a record of the private zone `LenticularKeys`. Other devices unwrap it once and
    /// keep it. Beyond Apple's framework, where the system does this.
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

        private let container: CKContainer
        private let keys: AccountKeys

        init(_ container: CKContainer, _ keys: AccountKeys) {
            self.container = container
            self.keys = keys
        }

        /// Whether this device can read encrypted values.
        ///
        /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
        public func status() async throws -> Status {
            if try await keys.load() != nil { return .ready }
            return try await wrapped() == nil ? .notSetUp : .locked
        }

        /// Makes the key.
        ///
        /// - Returns: the recovery code, which opens the key when the passphrase is lost: to be shown once and kept
        ///   by its owner.
        /// - Throws: `CKError` `serverRecordChanged` when another device was first: unlock instead.
        public func setUp(passphrase: String) async throws -> String {
            let database = container.privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: WrappedKey.zone))
            let key = AccountKey.random()
            let code = RecoveryCode.random()
            let record = try WrappedKey(key, passphrase: passphrase, code: code).record()
            try await database.save(record)
            try await keys.keep(key)
            return code.text
        }

        /// Unwraps the key by its passphrase, and keeps it on this device.
        ///
        /// - Throws: `CKError` `permissionFailure` for a wrong passphrase, `unknownItem` before `setUp`.
        public func unlock(passphrase: String) async throws {
            try await unlock { try $0.key(passphrase: passphrase) }
        }

        /// Unwraps the key by its recovery code, and keeps it on this device.
        ///
        /// - Throws: `CKError` `permissionFailure` for a wrong code, `unknownItem` before `setUp`.
        public func unlock(recoveryCode: String) async throws {
            try await unlock { try $0.key(code: RecoveryCode(recoveryCode)) }
        }

        /// Forgets the key on this device; the others keep theirs.
        public func lock() async throws { try await keys.forget() }

        private func unlock(_ open: (WrappedKey) throws -> AccountKey) async throws {
            guard let wrapped = try await wrapped() else {
                throw CKError(.unknownItem, "no device has made a key yet")
            }
            do {
                try await keys.keep(try open(wrapped))
            } catch is SealedBytes.Unreadable {
                throw CKError(.permissionFailure, "the passphrase or code does not open the key")
            }
        }

        private func wrapped() async throws -> WrappedKey? {
            do {
                return WrappedKey(
                    try await container.privateCloudDatabase.record(for: WrappedKey.recordID))
            } catch let error as CKError
                where error.code == .unknownItem || error.code == .zoneNotFound
            {
                return nil
            }
        }
    }

    extension CKContainer {
        /// The key that encrypts `encryptedValues` on this device.
        public var encryption: CKEncryption { CKEncryption(self, keys) }
    }

    /// An account's key as the server keeps it.
    private struct WrappedKey {
        static let zone = CKRecordZone.ID(zoneName: "LenticularKeys")
        static let recordID = CKRecord.ID(recordName: "account-key", zoneID: zone)
        /// Half a second and 128 MiB for each guess.
        private static let cost: Int64 = 1 << 17
        private static let costMax: Int64 = 1 << 20

        private let salt: [UInt8]
        private let cost: Int64
        private let byPassphrase: [UInt8]
        private let byCode: [UInt8]

        init(_ key: AccountKey, passphrase: String, code: RecoveryCode) throws {
            salt = SealedBytes.random(16)
            cost = Self.cost
            let slow = try SealedBytes.key(
                from: passphrase, salt: salt, cost: UInt64(Self.cost))
            byPassphrase = try SealedBytes.seal(key.bytes, key: slow, associated: salt)
            byCode = try SealedBytes.seal(key.bytes, key: code.key, associated: salt)
        }

        init?(_ record: CKRecord) {
            guard let salt = record["salt"] as? Data, let cost = record["cost"] as? Int64,
                let byPassphrase = record["byPassphrase"] as? Data,
                let byCode = record["byCode"] as? Data, (2...Self.costMax).contains(cost)
            else { return nil }
            self.salt = [UInt8](salt)
            self.cost = cost
            self.byPassphrase = [UInt8](byPassphrase)
            self.byCode = [UInt8](byCode)
        }

        func record() -> CKRecord {
            let record = CKRecord(recordType: "LenticularKey", recordID: Self.recordID)
            record["salt"] = Data(salt)
            record["cost"] = cost
            record["byPassphrase"] = Data(byPassphrase)
            record["byCode"] = Data(byCode)
            return record
        }

        func key(passphrase: String) throws -> AccountKey {
            let slow = try SealedBytes.key(from: passphrase, salt: salt, cost: UInt64(cost))
            return AccountKey(
                bytes: try SealedBytes.open(byPassphrase, key: slow, associated: salt))
        }

        func key(code: RecoveryCode) throws -> AccountKey {
            AccountKey(bytes: try SealedBytes.open(byCode, key: code.key, associated: salt))
        }
    }

    /// What opens a key when its passphrase is lost: 160 random bits as letters and digits.
    private struct RecoveryCode {
        /// Without letters that are taken for digits.
        private static let letters = Array("ABCDEFGHJKMNPQRSTVWXYZ0123456789")
        let text: String

        static func random() -> RecoveryCode {
            let groups = (0..<8).map { _ in
                String(SealedBytes.random(4).map { letters[Int($0) % letters.count] })
            }
            return RecoveryCode(groups.joined(separator: "-"))
        }

        init(_ text: String) { self.text = text }

        var key: [UInt8] {
            let typed = text.uppercased().filter { $0.isLetter || $0.isNumber }
            return SHA256Digest.of(Array("lenticular recovery \(typed)".utf8))
        }
    }
#endif
