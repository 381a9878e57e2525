import CloudModel

/// A key with which the pushes to one of a container's apps are signed.
package struct PushKeyRecord: Sendable, Equatable {
    package let container: ContainerID
    /// What the push service calls the app; unique in the container.
    package let topic: String
    /// As the push service names the key, and whose it is.
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

/// The keys by which the server pushes to the apps of containers.
package protocol PushKeyCatalog: Sendable {
    /// Keeps a key, in place of the one of the same container and topic.
    ///
    /// - Throws: `containerUnknown`.
    func add(_ key: PushKeyRecord) throws
    /// Those of all containers, in the order of containers and topics.
    func pushKeys() throws -> [PushKeyRecord]
    /// In the order of their topics.
    func pushKeys(of container: ContainerID) throws -> [PushKeyRecord]
    /// - Throws: `containerUnknown`, `pushKeyUnknown`.
    func deletePushKey(topic: String, of container: ContainerID) throws
}
