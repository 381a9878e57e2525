import CloudModel

/// What is kept of one finished request: who asked for what, how it ended, and how far their tokens were.
///
/// No value, no token, no name of a record. Its texts are short: longer ones are cut when it is kept.
package struct RequestEntry: Sendable, Equatable {
    package var time: Milliseconds
    /// The 16 bytes of the id that the answer carried.
    package var id: [UInt8]
    package var operation: String?
    package var container: String?
    package var environment: Environment?
    package var database: DatabaseScope?
    /// The user's record name in the container.
    package var user: String?
    /// The `clientId` by which the device names itself.
    package var device: String?
    package var software: Software?
    /// The ID of the web token's session, as `web-token list` shows it.
    package var session: String?
    package var keyID: String?
    package var status = 0
    /// A `FaultCode`.
    package var code: String?
    /// A word of the catalogue: why the whole request failed.
    package var reason: String?
    /// How far a refused date of a signature was ahead of the server's clock.
    package var dateAheadMilliseconds: Milliseconds?
    package var zones: [Zone] = []
    package var items = 0
    package var records = 0
    package var failures: [Failures] = []
    /// Hashes of the names of records that it saved or deleted; none where they were many.
    package var saved: [UInt32] = []
    package var bytesIn = 0
    package var bytesOut = 0
    package var microseconds = Stages()
    /// Notices that were handed over with the answer.
    package var notices = 0

    package init(time: Milliseconds, id: [UInt8] = []) {
        self.time = time
        self.id = id
    }

    /// The app and what it uses, as a kind, a name and a version.
    package struct Software: Sendable, Hashable {
        package var kind: String
        package var name: String
        package var version: String

        package init(kind: String, name: String, version: String) {
            self.kind = kind
            self.name = name
            self.version = version
        }

        /// No part has this character.
        static let separator: Character = "\u{1f}"

        /// As a line has it, in one text.
        package var lineText: String {
            "\(kind)\(Self.separator)\(name)\(Self.separator)\(version)"
        }

        /// As lists show it.
        package var text: String {
            let words = version.isEmpty ? name : "\(name) \(version)"
            return words.isEmpty ? kind : "\(words) (\(kind))"
        }
    }

    /// A zone that it named, and the positions of the tokens that it sent and got.
    package struct Zone: Sendable, Hashable {
        package var name: String
        /// Nil for the caller's own.
        package var owner: String?
        package var from: Int64?
        package var to: Int64?
        package var moreComing: Bool

        package init(
            name: String, owner: String? = nil, from: Int64? = nil, to: Int64? = nil,
            moreComing: Bool = false
        ) {
            self.name = name
            self.owner = owner
            self.from = from
            self.to = to
            self.moreComing = moreComing
        }
    }

    /// Items that failed in one way.
    package struct Failures: Sendable, Hashable {
        package var code: String
        package var reason: String?
        package var count: Int
        /// Hashes of the names of the first records of them.
        package var records: [UInt32]

        package init(code: String, reason: String? = nil, count: Int, records: [UInt32] = []) {
            self.code = code
            self.reason = reason
            self.count = count
            self.records = records
        }
    }

    /// Where its time went, in microseconds.
    package struct Stages: Sendable, Hashable {
        package var waiting = 0
        package var reading = 0
        package var deciding = 0
        package var committing = 0
        package var sending = 0

        package init() {}

        package var total: Int { waiting + reading + deciding + committing + sending }
    }

    /// The zone of a line that names one.
    package var zone: Zone? { zones.first }

    /// Whether it, or an item of it, failed with a code.
    package func failed(with code: String) -> Bool {
        self.code == code || failures.contains { $0.code == code }
    }
}
