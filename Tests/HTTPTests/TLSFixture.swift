import COpenSSL
import Foundation

/// A certificate of our own making, valid for an hour, in a folder of its own.
final class TestCertificate {
    let folder: URL
    var certificateFile: String { folder.appendingPathComponent("certificate.pem").path }
    var keyFile: String { folder.appendingPathComponent("key.pem").path }

    init(name: String) throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("lenticular-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try issue(name: name)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Writes a new key and certificate over the old ones.
    func issue(name: String) throws {
        let generator = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(generator) }
        EVP_PKEY_keygen_init(generator)
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(generator, NID_X9_62_prime256v1)
        var key: OpaquePointer?
        EVP_PKEY_keygen(generator, &key)
        defer { EVP_PKEY_free(key) }
        let certificate = X509_new()
        defer { X509_free(certificate) }
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        X509_gmtime_adj(X509_getm_notBefore(certificate), -60)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 3600)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0)
        X509_set_issuer_name(certificate, subject)
        X509_sign(certificate, key, EVP_sha256())
        try write(to: certificateFile) { PEM_write_bio_X509($0, certificate) }
        try write(to: keyFile) { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private func write(to file: String, _ body: (OpaquePointer?) -> Int32) throws {
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        _ = body(memory)
        var start: UnsafePointer<CChar>?
        let count = openssl_waiting(memory, &start)
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
    }
}

/// A client that speaks TLS over a blocking socket.
final class TLSClient {
    struct Failure: Error { var what: String }

    private let raw: RawClient
    private let context: OpaquePointer?
    private let session: OpaquePointer?

    /// Connects and shakes hands.
    init(
        _ raw: RawClient, versionMax: Int32 = TLS1_3_VERSION, ciphers: String? = nil,
        protocols: [String] = []
    ) throws {
        self.raw = raw
        context = SSL_CTX_new(TLS_client_method())
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(versionMax), nil)
        if let ciphers { SSL_CTX_set_cipher_list(context, ciphers) }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
        session = SSL_new(context)
        if !protocols.isEmpty {
            let list = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            SSL_set_alpn_protos(session, list, UInt32(list.count))
        }
        SSL_set_fd(session, raw.descriptor)
        if SSL_connect(session) != 1 { throw Failure(what: "handshake") }
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    var version: String { String(cString: SSL_get_version(session)) }
    var cipher: String { String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(session))) }

    var chosenProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    var peerName: String {
        let certificate = SSL_get1_peer_certificate(session)
        defer { X509_free(certificate) }
        var text = [CChar](repeating: 0, count: 256)
        X509_NAME_oneline(X509_get_subject_name(certificate), &text, 256)
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                SSL_write(session, $0.baseAddress, Int32($0.count))
            }
            if count <= 0 { throw Failure(what: "write") }
            sent += Int(count)
        }
    }

    /// Some plain bytes; nil at the end that the server announced, a throw at any other.
    func receive() throws -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = SSL_read(session, &piece, Int32(piece.count))
        if count > 0 { return Array(piece[..<Int(count)]) }
        if SSL_get_error(session, count) == SSL_ERROR_ZERO_RETURN { return nil }
        throw Failure(what: "read")
    }

    /// Sends one request, and gives the bytes of the answer until one ends it.
    func receive(until isWhole: ([UInt8]) -> Bool) throws -> [UInt8] {
        var received: [UInt8] = []
        while !isWhole(received) {
            guard let more = try receive() else { throw Failure(what: "ended early") }
            received += more
        }
        return received
    }
}
