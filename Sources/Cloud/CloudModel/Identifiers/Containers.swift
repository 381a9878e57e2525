/// Names one container: what an app calls its data as a whole.
///
/// Legal: 1 to 128 of `A-Z a-z 0-9 . -`. Compared without case, kept as first written.
package struct ContainerID: Hashable, Sendable, CustomStringConvertible {
    package let name: String
    /// The form that is compared and used for folders.
    package let folded: String

    /// The container of that name, or nil when the name is not legal.
    package init?(_ name: String) {
        guard (1...128).contains(name.utf8.count) else { return nil }
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                continue
            default: return nil
            }
        }
        // "." and ".." name folders that are not the container's own.
        guard name != ".", name != ".." else { return nil }
        self.name = name
        self.folded = name.lowercased()
    }

    package static func == (left: ContainerID, right: ContainerID) -> Bool {
        left.folded == right.folded
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    package var description: String { name }
}

/// The two halves of a container, which never see each other's data.
package enum Environment: String, Hashable, Sendable, CaseIterable {
    case development, production
}

/// The three views of a container environment's data.
package enum DatabaseScope: String, Hashable, Sendable, CaseIterable {
    case `public`, `private`, shared
}
