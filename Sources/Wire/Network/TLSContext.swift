import COpenSSL
import Synchronization

/// Why a certificate or its key cannot be used.
package struct TLSError: Error, Equatable, CustomStringConvertible {
    package let description: String
}

/// A server's certificate and key, and what it speaks with them.
///
/// TLS 1.2 with ECDHE and an AEAD cipher, and TLS 1.3; ALPN `http/1.1`. No resumption: a session
/// has the forward secrecy of its own key exchange.
package final class TLSContext: Sendable {
    static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    ].joined(separator: ":")
    static let groups = "X25519:P-256:P-384"

    private struct Current: @unchecked Sendable {
        // Unchecked: OpenSSL's context is counted and locked by OpenSSL, the pointer to it by the mutex.
        var pointer: OpaquePointer
    }

    private let certificateFile: String
    private let keyFile: String
    private let current: Mutex<Current>

    /// Reads a certificate chain and its private key, both PEM.
    ///
    /// - Throws: when a file cannot be read, is malformed, or the two do not belong together.
    package init(certificateFile: String, keyFile: String) throws(TLSError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        let pointer = try Self.load(certificateFile, keyFile)
        current = Mutex(Current(pointer: pointer))
    }

    deinit { current.withLock { SSL_CTX_free($0.pointer) } }

    /// Reads both files again; connections already open keep what they have.
    ///
    /// - Throws: as `init`; then the old certificate stays in use.
    package func reload() throws(TLSError) {
        let fresh = Current(pointer: try Self.load(certificateFile, keyFile))
        let old = current.withLock { current in
            let old = current
            current = fresh
            return old
        }
        SSL_CTX_free(old.pointer)
    }

    /// Seconds from a time, since 1970, until the certificate in use ends; negative once it has.
    package func secondsLeft(at seconds: Int64) -> Int64 {
        current.withLock { current in
            var (days, rest) = (Int32(0), Int32(0))
            guard let now = ASN1_TIME_set(nil, time_t(seconds)) else { return 0 }
            defer { ASN1_TIME_free(now) }
            let certificate = SSL_CTX_get0_certificate(current.pointer)
            guard let end = X509_get0_notAfter(certificate),
                ASN1_TIME_diff(&days, &rest, now, end) == 1
            else { return 0 }
            return Int64(days) * 86_400 + Int64(rest)
        }
    }

    /// Whether the certificate in use is for a host, by its name or its address.
    package func isCertificate(for host: String) -> Bool {
        current.withLock { current in
            let certificate = SSL_CTX_get0_certificate(current.pointer)
            return X509_check_host(certificate, host, host.utf8.count, 0, nil) == 1
                || X509_check_ip_asc(certificate, host, 0) == 1
        }
    }

    /// The server's side of one new connection; nil without memory.
    package func makeSession() -> TLSSession? {
        current.withLock { TLSSession(context: $0.pointer) }
    }

    private static func load(
        _ certificateFile: String, _ keyFile: String
    ) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let context = openssl_server_context(ciphers, groups) else {
            throw failure("TLS cannot be set up")
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            SSL_CTX_free(context)
            throw failure("the certificate \(certificateFile) cannot be used")
        }
        guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context) == 1
        else {
            SSL_CTX_free(context)
            throw failure("the key \(keyFile) cannot be used")
        }
        return context
    }

    private static func failure(_ what: String) -> TLSError {
        var text = [CChar](repeating: 0, count: 256)
        let code = ERR_get_error()
        ERR_clear_error()
        if code == 0 { return TLSError(description: what) }
        ERR_error_string_n(code, &text, text.count)
        let reason = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return TLSError(description: "\(what): \(String(decoding: reason, as: UTF8.self))")
    }
}
