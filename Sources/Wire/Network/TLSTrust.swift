import COpenSSL

/// The certificate authorities that a client trusts: those of this machine, or those of one file.
///
/// TLS 1.2 and 1.3, and no connection without a certificate for the host that was asked for.
package final class TLSTrust: @unchecked Sendable {
    // Unchecked: OpenSSL's context is counted and locked by OpenSSL, and never changes after `init`.

    /// What a client offers to speak over TLS (RFC 7301).
    package enum Spoken: String, Sendable {
        case http11 = "http/1.1"
        case http2 = "h2"
        /// Nothing is said of it: mail has no name there.
        case unnamed = ""
    }

    private let context: OpaquePointer

    /// - Parameter authoritiesFile: certificates in PEM that are believed instead of the machine's;
    ///   empty for the machine's.
    /// - Parameter spoken: what is spoken on the connection.
    /// - Throws: when the file cannot be read or holds none.
    package init(
        authoritiesFile: String = "", spoken: Spoken = .http11
    ) throws(TLSError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let name = Array(spoken.rawValue.utf8)
        let offered = name.isEmpty ? [] : [UInt8(name.count)] + name
        guard
            let made = openssl_client_context(
                TLSContext.ciphers, TLSContext.groups, offered, UInt32(offered.count))
        else {
            throw TLSError(description: "TLS cannot be set up")
        }
        let isLoaded =
            authoritiesFile.isEmpty
            ? SSL_CTX_set_default_verify_paths(made)
            : SSL_CTX_load_verify_file(made, authoritiesFile)
        guard isLoaded == 1 else {
            SSL_CTX_free(made)
            throw TLSError(
                description: "the certificates of \(authoritiesFile) cannot be used")
        }
        context = made
    }

    deinit { SSL_CTX_free(context) }

    /// The client's side of one new connection; nil without memory.
    package func makeSession(toward host: String) -> TLSSession? {
        TLSSession(context: context, toward: host)
    }
}
