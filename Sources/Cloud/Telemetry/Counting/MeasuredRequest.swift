import CloudModel

/// What is counted of one finished request.
///
/// It is made for one count, and not copied on the way.
package struct MeasuredRequest: ~Copyable, Sendable {
    /// The client's own word, unless `isKnown`.
    package var container: String
    package var environment: Environment?
    package var database: DatabaseScope?
    package var operation: String
    /// Stands for the client and its version, which are read when a hash is seen for the first time.
    package var softwareHash: UInt64
    /// Whether the request has shown that there is such a container: not every one does that fails.
    package var isKnown: Bool
    /// Nil where nothing of it failed.
    package var failure: MeasuredFailure?
    package var bytesIn: Int
    package var bytesOut: Int
    package var nanoseconds: UInt64
    /// The event loop that it came in on.
    package var loop: Int

    package init(
        container: String = "", environment: Environment? = nil, database: DatabaseScope? = nil,
        operation: String, softwareHash: UInt64 = 0, isKnown: Bool = true,
        failure: MeasuredFailure? = nil,
        bytesIn: Int = 0, bytesOut: Int = 0, nanoseconds: UInt64 = 0, loop: Int = 0
    ) {
        self.container = container
        self.environment = environment
        self.database = database
        self.operation = operation
        self.softwareHash = softwareHash
        self.isKnown = isKnown
        self.failure = failure
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.nanoseconds = nanoseconds
        self.loop = loop
    }
}

/// Why a request failed, or items of it.
package struct MeasuredFailure: Sendable {
    /// Whose it was; counted by a hash, and kept nowhere.
    package var user: String?
    /// Why all of it failed; nil where only items did.
    package var error: String?
    /// Why items of it failed, and how many.
    package var itemFaults: [(code: String, count: Int)]

    package init(
        user: String? = nil, error: String? = nil,
        itemFaults: [(code: String, count: Int)] = []
    ) {
        self.user = user
        self.error = error
        self.itemFaults = itemFaults
    }
}

/// What sent a request, as series name it.
package struct MeasuredClient: Sendable {
    /// Of few kinds.
    package let kind: String
    /// The app and its version.
    package let version: String

    package init(kind: String, version: String) {
        self.kind = kind
        self.version = version
    }
}
