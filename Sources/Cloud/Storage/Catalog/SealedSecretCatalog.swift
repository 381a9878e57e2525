import CloudModel

/// Where the catalog keeps a secret that the server has sealed.
package enum SealedSecretLocation: Sendable, Hashable {
    case secondFactor(AccountID)
    case identityProvider(issuer: String)
    case pushKey(ContainerID, topic: String)
    /// One of the server's own, by its name for `secret(_:orStore:)`.
    case own(String)
}

/// A sealed secret that takes the place of another.
package struct SealedChange: Sendable {
    package let location: SealedSecretLocation
    /// What has to be there for the change to be made.
    package let previous: [UInt8]
    package let sealed: [UInt8]

    package init(location: SealedSecretLocation, previous: [UInt8], sealed: [UInt8]) {
        self.location = location
        self.previous = previous
        self.sealed = sealed
    }
}

/// All sealed secrets of the catalog, so that they can be sealed anew.
package protocol SealedSecretCatalog: Sendable {
    /// Every sealed secret.
    ///
    /// - Parameter prefix: begins the names of those of the server's own secrets that are sealed.
    func sealedSecrets(
        ownNamed prefix: String
    ) throws -> [(location: SealedSecretLocation, sealed: [UInt8])]

    /// Puts sealed secrets in the places of others, each where the previous one is still there.
    ///
    /// - Returns: how many were replaced.
    func replace(_ changes: [SealedChange]) throws -> Int
}
