#if !os(Linux)
    import CloudKitTransport
    import Foundation
    import Security

    /// Keys in the system's keychain, for this device alone.
    struct KeychainKeys: KeyStore {
        /// What the keychain answered instead.
        struct Failure: Error {
            let status: OSStatus
        }

        private static let service = "lenticular-keys"

        private func query(_ name: String) -> [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: Self.service,
                kSecAttrAccount: name,
            ]
        }

        func key(of name: String) throws -> HeldKey? {
            var asked = query(name)
            asked[kSecReturnData] = true
            asked[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(asked as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else {
                throw Failure(status: status)
            }
            return HeldKey(stored: data)
        }

        func keep(_ held: HeldKey, of name: String) throws {
            try forget(name)
            var added = query(name)
            added[kSecValueData] = held.stored
            // Read by apps that sync in the background; never copied to another device.
            added[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let status = SecItemAdd(added as CFDictionary, nil)
            guard status == errSecSuccess else { throw Failure(status: status) }
        }

        func forget(_ name: String) throws {
            let status = SecItemDelete(query(name) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw Failure(status: status)
            }
        }
    }
#endif
