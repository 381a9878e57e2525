/// Why bytes or a text are not taken as a key.
package enum KeyRefusal: Error, Sendable, Equatable {
    /// Not exactly one block of PEM.
    case notPEM
    /// A block of another kind: a private key or a certificate, say, in place of a public key.
    case wrongLabel
    /// Not on the curve prime256v1 by name, not a point of it, or not uncompressed.
    case notP256
}
