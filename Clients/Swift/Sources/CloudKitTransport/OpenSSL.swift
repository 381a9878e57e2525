// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    // What this library uses of OpenSSL's C interface, under the names that it has there.

    let SHA256_DIGEST_LENGTH: Int32 = 32
    let EVP_CTRL_GCM_GET_TAG: Int32 = 0x10
    let EVP_CTRL_GCM_SET_TAG: Int32 = 0x11

    @discardableResult @_extern(c)
    func SHA256(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ digest: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8>?

    @_extern(c)
    func EVP_PBE_scrypt(
        _ passphrase: UnsafePointer<CChar>?, _ passphraseCount: Int, _ salt: UnsafePointer<UInt8>,
        _ saltCount: Int, _ cost: UInt64, _ blockSize: UInt64, _ lanes: UInt64,
        _ memoryMax: UInt64, _ key: UnsafeMutablePointer<UInt8>, _ keyCount: Int
    ) -> Int32

    @_extern(c)
    func EVP_CIPHER_CTX_new() -> OpaquePointer?

    @_extern(c)
    func EVP_CIPHER_CTX_free(_ context: OpaquePointer)

    @_extern(c)
    func EVP_aes_256_gcm() -> OpaquePointer?

    @_extern(c)
    func EVP_CipherInit_ex(
        _ context: OpaquePointer, _ cipher: OpaquePointer?, _ engine: OpaquePointer?,
        _ key: UnsafePointer<UInt8>?, _ nonce: UnsafePointer<UInt8>?, _ encrypts: Int32
    ) -> Int32

    @_extern(c)
    func EVP_CipherUpdate(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>?,
        _ written: UnsafeMutablePointer<Int32>, _ input: UnsafePointer<UInt8>, _ count: Int32
    ) -> Int32

    @_extern(c)
    func EVP_CipherFinal_ex(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>,
        _ written: UnsafeMutablePointer<Int32>
    ) -> Int32

    @_extern(c)
    func EVP_CIPHER_CTX_ctrl(
        _ context: OpaquePointer, _ command: Int32, _ count: Int32,
        _ bytes: UnsafeMutableRawPointer?
    ) -> Int32
#endif
