import JSON

/// What the driver talks to: a server in this process, or one of its own.
package protocol SharingWire: AnyObject {
    /// Sends a request of a user to a path below the environment.
    ///
    /// - Throws: `SharingLoss` when no answer comes; anything else ends the run.
    func send(_ user: Int, _ path: String, _ body: String) throws -> SharingAnswer

    /// Makes the account of somebody and signs them in; their user record name.
    func makeAccount(_ person: SharingPerson) throws -> String

    /// Notes that an address is somebody's own.
    func verify(_ handle: ModelledSharing.Handle, of person: SharingPerson) throws

    /// Does a step of the work on trees that requests have left for later, or lets the server do it.
    ///
    /// - Returns: whether there was any, as far as is known.
    func doWork() throws -> Bool

    /// Lets so much time pass that whoever asks to take part is told of at once.
    func passTime() throws

    /// Waits until those who decide have been told of who asks.
    func finishTelling() throws
}

/// The server went away: whether the request was done is not known.
package struct SharingLoss: Error {
    package let why: String

    package init(_ why: String) { self.why = why }
}

/// What is not as it must be.
package struct SharingFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

package struct SharingAnswer: Sendable {
    package let status: Int
    package let bytes: [UInt8]
    package let json: SharingJSON

    package init(status: Int, bytes: [UInt8]) throws {
        self.status = status
        self.bytes = bytes
        json = SharingJSON(value: bytes.isEmpty ? nil : try JSONDocument(parsing: bytes).root)
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
    package var code: String? { json["serverErrorCode"].string }

    package subscript(key: String) -> SharingJSON { json[key] }
}

/// A place in an answer, there or not.
package struct SharingJSON: Sendable {
    let value: JSONValue?

    package subscript(key: String) -> SharingJSON { SharingJSON(value: value?.member(key)) }

    package var exists: Bool { value != nil }
    package var string: String? { value?.string }
    package var bool: Bool? { value?.bool }
    package var elements: [SharingJSON] { value?.elements.map { SharingJSON(value: $0) } ?? [] }
    package var keys: [String] { value?.members.map { $0.key.string ?? "" } ?? [] }
    package var raw: String { value?.withRawBytes { String(decoding: $0, as: UTF8.self) } ?? "" }
    package var code: String? { self["serverErrorCode"].string }

    /// A live record as it was shown.
    package var record: SeenRecord {
        var seen = SeenRecord(type: self["recordType"].string ?? "?")
        for key in self["fields"].keys { seen.fields[key] = self["fields"][key]["value"].raw }
        seen.parent = self["parent"]["recordName"].string
        seen.share = self["share"]["recordName"].string
        seen.guid = self["shortGUID"].string
        seen.tag = self["recordChangeTag"].string ?? ""
        seen.creator = self["created"]["userRecordName"].string ?? "?"
        seen.modifier = self["modified"]["userRecordName"].string ?? "?"
        if seen.type == ModelledSharing.shareType { seen.sharing = sharing }
        return seen
    }

    private var sharing: SeenShare {
        var seen = SeenShare(publicPermission: self["publicPermission"].string ?? "?")
        seen.owner = self["owner"]["userIdentity"]["userRecordName"].string ?? "?"
        seen.current =
            self["currentUserParticipant"].exists
            ? self["currentUserParticipant"].participant : nil
        seen.participants = self["participants"].elements.map(\.participant)
            .sorted { $0.id < $1.id }
        seen.allowsRequests = self["allowsAccessRequests"].bool ?? false
        seen.asking = self["requesters"].elements.compactMap {
            $0["userIdentity"]["userRecordName"].string
        }
        seen.blocked = self["blockedIdentities"].elements.compactMap {
            $0["userRecordName"].string
        }.sorted()
        return seen
    }

    private var participant: SeenParticipant {
        var seen = SeenParticipant()
        let identity = self["userIdentity"]
        seen.role = self["type"].string ?? "?"
        seen.id = seen.role == "OWNER" ? "owner" : self["participantId"].string ?? "?"
        seen.user = identity["userRecordName"].string
        seen.name = identity["nameComponents"]["givenName"].string
        let lookup = identity["lookupInfo"]
        seen.address = lookup["emailAddress"].string ?? lookup["phoneNumber"].string
        seen.status = self["acceptanceStatus"].string ?? "?"
        seen.permission = self["permission"].string ?? "?"
        seen.hasAsked = self["isApprovedRequester"].bool ?? false
        seen.link = self["oneTimeURL"].string?.split(separator: "/").last.map(String.init)
        return seen
    }
}
