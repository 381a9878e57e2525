import CloudModel

/// A key that signs the pushes to one of a container's apps.
package struct PushKeyRecord: Sendable, Equatable {
    package let container: ContainerID
    /// The push service's name for the app; unique in the container.
    package let topic: String
    /// The push service's name for the key, and the team that it belongs to.
    package let keyID: String
    package let teamID: String
    /// The private key, sealed by the server.
    package let sealedKey: [UInt8]
    package let createdAt: Milliseconds

    package init(
        container: ContainerID, topic: String, keyID: String, teamID: String,
        sealedKey: [UInt8], createdAt: Milliseconds
    ) {
        self.container = container
        self.topic = topic
        self.keyID = keyID
        self.teamID = teamID
        self.sealedKey = sealedKey
        self.createdAt = createdAt
    }
}

/// The keys with which the server signs pushes to the apps of containers.
package protocol PushKeyCatalog: Sendable {
    /// Stores a key, in place of the one with the same container and topic.
    ///
    /// - Throws: `containerUnknown`.
    func add(_ key: PushKeyRecord) throws
    /// The keys of a container, or of all, in the order of containers and topics.
    func pushKeys(of container: ContainerID?) throws -> [PushKeyRecord]
}

extension PushKeyCatalog {
    /// The keys of all containers.
    package func pushKeys() throws -> [PushKeyRecord] { try pushKeys(of: nil) }
}
