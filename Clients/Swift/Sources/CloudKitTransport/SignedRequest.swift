import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Signs the request as a server key.
    ///
    /// What is signed: the date, the body's SHA-256 in base64, and the path, joined by colons.
    mutating func sign(
        as keyID: String, target: String, body: [UInt8],
        with sign: @Sendable (Data) throws -> Data
    ) throws {
        let date = Date().formatted(.iso8601)
        let digest = Data(SHA256Digest.of(body)).base64EncodedString()
        let signature = try sign(Data("\(date):\(digest):\(target)".utf8))
        setValue(keyID, forHTTPHeaderField: "X-Apple-CloudKit-Request-KeyID")
        setValue(date, forHTTPHeaderField: "X-Apple-CloudKit-Request-ISO8601Date")
        setValue(
            signature.base64EncodedString(),
            forHTTPHeaderField: "X-Apple-CloudKit-Request-SignatureV1")
    }
}
