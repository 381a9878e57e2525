import CloudKitWire
import Foundation

// Who asks to take part. Everything takes effect when the share is saved.
extension CKShare {
    /// Somebody who asks to take part.
    public struct AccessRequester: Equatable, Sendable {
        /// Who it is.
        public let userIdentity: CKUserIdentity
        /// By what they are invited, with `CKContainer.shareParticipant(forUserRecordID:)`.
        public var participantLookupInfo: CKUserIdentity.LookupInfo? {
            userIdentity.userRecordID.map { CKUserIdentity.LookupInfo(userRecordID: $0) }
        }
        /// When they have asked.
        public let requestDate: Date?

        /// The same person.
        public static func == (left: AccessRequester, right: AccessRequester) -> Bool {
            left.userIdentity.userRecordID == right.userIdentity.userRecordID
        }
    }

    /// Somebody who may not ask.
    public struct BlockedIdentity: Equatable, Sendable {
        /// Who it is.
        public let userIdentity: CKUserIdentity

        /// The same person.
        public static func == (left: BlockedIdentity, right: BlockedIdentity) -> Bool {
            left.userIdentity.userRecordID == right.userIdentity.userRecordID
        }
    }

    /// Whether who has the link may ask to take part; its owner and administrators say so.
    public var allowsAccessRequests: Bool {
        get { details.requests.isAllowed }
        set {
            details.requests.isAllowed = newValue
            details.requests.isAllowedChanged = true
        }
    }

    /// Who asks, the longest waiting first, as its owner and administrators see it.
    ///
    /// To let somebody in, add them as a participant.
    public var requesters: [AccessRequester] { details.requests.requesters }

    /// Who may not ask, as its owner and administrators see it.
    public var blockedIdentities: [BlockedIdentity] { details.requests.blocked }

    /// Takes people off the list of those who ask; they may ask again.
    public func denyRequesters(_ requesters: [AccessRequester]) {
        details.requests.requesters.removeAll { requesters.contains($0) }
        details.requests.denied += Self.names(requesters.map(\.userIdentity))
    }

    /// Takes people off the list of those who ask, and out of the share; they may not ask again.
    public func blockRequesters(_ requesters: [AccessRequester]) {
        details.requests.requesters.removeAll { requesters.contains($0) }
        details.requests.blocked += requesters.map {
            BlockedIdentity(userIdentity: $0.userIdentity)
        }
        details.requests.barred += Self.names(requesters.map(\.userIdentity))
    }

    /// Lets people ask again.
    public func unblockIdentities(_ identities: [BlockedIdentity]) {
        details.requests.blocked.removeAll { identities.contains($0) }
        details.requests.unbarred += Self.names(identities.map(\.userIdentity))
    }

    private static func names(_ identities: [CKUserIdentity]) -> [String] {
        identities.compactMap { $0.userRecordID?.recordName }
    }
}

/// What a share says of those who ask to take part, and what was decided of them since it was fetched.
struct AccessRequests {
    var isAllowed = false
    var isAllowedChanged = false
    var requesters: [CKShare.AccessRequester] = []
    var blocked: [CKShare.BlockedIdentity] = []
    var denied: [String] = []
    var barred: [String] = []
    var unbarred: [String] = []
}

extension JSONText {
    /// Writes what was decided, as far as anything was.
    mutating func accessRequests(_ requests: AccessRequests) {
        if requests.isAllowedChanged {
            key("allowsAccessRequests")
            bool(requests.isAllowed)
        }
        let decisions = [
            ("deny", requests.denied), ("block", requests.barred), ("unblock", requests.unbarred),
        ]
        for (word, names) in decisions where !names.isEmpty {
            key(word)
            array { json in for name in names { json.string(name) } }
        }
    }
}

extension AnswerReader {
    func accessRequests(_ view: JSONView) -> AccessRequests {
        var requests = AccessRequests()
        requests.isAllowed = view["allowsAccessRequests"]?.bool ?? false
        requests.requesters =
            (view["requesters"]?.elements).map { elements in
                elements.map { requester in
                    CKShare.AccessRequester(
                        userIdentity: identity(requester["userIdentity"]),
                        requestDate: requester["timestamp"]?.int64.map {
                            Date(timeIntervalSince1970: Double($0) / 1000)
                        })
                }
            } ?? []
        requests.blocked =
            (view["blockedIdentities"]?.elements).map { elements in
                elements.map { CKShare.BlockedIdentity(userIdentity: identity($0)) }
            } ?? []
        return requests
    }
}
