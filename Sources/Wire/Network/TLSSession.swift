import COpenSSL

/// One side of TLS on one connection: encrypted bytes in and out, plain bytes in and out.
///
/// It knows no socket. Whatever is called may leave encrypted output to be sent. Used by one thread
/// at a time.
package final class TLSSession {
    /// What reading found.
    package enum ReadOutcome: Equatable {
        case plain(Int)
        /// More encrypted bytes are needed.
        case needsMore
        /// The peer has ended the session in order.
        case ended
        /// The peer broke the protocol; the output may hold the alert that tells it so.
        case failed
    }

    private let session: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    /// The server's side.
    init?(context: OpaquePointer) {
        guard let made = Self.make(context) else { return nil }
        (session, input, output) = made
        SSL_set_accept_state(session)
    }

    /// The client's side, which goes on only with a certificate for that host.
    init?(context: OpaquePointer, toward host: String) {
        guard let made = Self.make(context) else { return nil }
        (session, input, output) = made
        guard openssl_expect_host(session, host) == 1 else { return nil }
        SSL_set_connect_state(session)
    }

    private static func make(
        _ context: OpaquePointer
    ) -> (session: OpaquePointer, input: OpaquePointer, output: OpaquePointer)? {
        guard let session = SSL_new(context) else { return nil }
        guard let input = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            return nil
        }
        guard let output = BIO_new(BIO_s_mem()) else {
            BIO_free(input)
            SSL_free(session)
            return nil
        }
        // The session owns both from here on.
        SSL_set_bio(session, input, output)
        return (session, input, output)
    }

    deinit { SSL_free(session) }

    /// True once the handshake is done.
    package var isEstablished: Bool { SSL_is_init_finished(session) == 1 }

    /// Why the peer's certificate is not believed; nil when it is, or none has come.
    package var refusedCertificate: String? {
        let code = SSL_get_verify_result(session)
        guard code != Int(X509_V_OK) else { return nil }
        return X509_verify_cert_error_string(code).map { String(cString: $0) }
    }

    /// Takes encrypted bytes off the wire; false without memory.
    package func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty
            || BIO_write(input, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count
    }

    /// Goes on with the handshake, and gives plain bytes after it.
    package func read(into bytes: UnsafeMutableRawBufferPointer) -> ReadOutcome {
        ERR_clear_error()
        let count = SSL_read(session, bytes.baseAddress, Int32(clamping: bytes.count))
        if count > 0 { return .plain(Int(count)) }
        switch SSL_get_error(session, count) {
        case SSL_ERROR_WANT_READ: return .needsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed
        }
    }

    /// Encrypts plain bytes; false when the session cannot carry them.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return true }
        ERR_clear_error()
        // A memory BIO takes everything, so there is no partial write.
        return SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)) == bytes.count
    }

    /// Tells the peer that nothing more comes.
    package func end() {
        ERR_clear_error()
        // NB: whatever comes of it, the connection is over.
        if isEstablished { SSL_shutdown(session) }
        ERR_clear_error()
    }

    /// How many encrypted bytes are to be sent.
    package var outputCount: Int { BIO_ctrl_pending(output) }

    /// Sends encrypted output; what the socket does not take stays.
    package func send(to socket: Socket) -> CallOutcome {
        var start: UnsafePointer<CChar>?
        let count = openssl_waiting(output, &start)
        guard count > 0 else { return .done(0) }
        let outcome = socket.send(UnsafeRawBufferPointer(start: start, count: count))
        if case .done(let sentCount) = outcome { openssl_drop(output, sentCount) }
        return outcome
    }
}
