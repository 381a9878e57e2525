import Network

/// The certificates that a client accepts from a server.
package struct ServerTrust: Sendable {
    let tls: TLSTrust

    /// - Parameter authoritiesFile: certificates in PEM that are believed instead of those that the
    ///   machine believes; empty for the machine's.
    /// - Throws: `TLSError`, which names the file, when it cannot be used.
    package init(authoritiesFile: String = "") throws {
        tls = try TLSTrust(authoritiesFile: authoritiesFile)
    }
}
