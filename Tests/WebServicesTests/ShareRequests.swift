import Foundation
import Testing

/// Somebody to be invited, as JSON.
///
/// - Parameter more: further members of the entry.
func invitation(
    email: String? = nil, phone: String? = nil, user: String? = nil, id: String? = nil,
    permission: String? = "READ_WRITE", type: String? = nil, more: String? = nil
) -> String {
    var members: [String] = []
    if let id { members.append("\"participantId\":\(quoted(id))") }
    if let type { members.append("\"type\":\(quoted(type))") }
    if let permission { members.append("\"permission\":\(quoted(permission))") }
    if let email {
        members.append("\"userIdentity\":{\"lookupInfo\":{\"emailAddress\":\(quoted(email))}}")
    }
    if let phone {
        members.append("\"userIdentity\":{\"lookupInfo\":{\"phoneNumber\":\(quoted(phone))}}")
    }
    if let user { members.append("\"userIdentity\":{\"userRecordName\":\(quoted(user))}") }
    if let more { members.append(more) }
    return "{\(members.joined(separator: ","))}"
}

/// The save of a share record as JSON.
///
/// - Parameters:
///   - root: the members of `forRecord`; nil leaves it out.
///   - participants: nil leaves the key out.
func shareOperation(
    _ kind: String = "create", _ name: String?, root: String? = nil, rootTag: String? = nil,
    publicPermission: String? = nil, participants: [String]? = nil, tag: String? = nil,
    type: String? = "cloudkit.share", fields: String? = "{}", more: String? = nil
) -> String {
    var members: [String] = []
    if let root {
        let tag = rootTag.map { ",\"recordChangeTag\":\(quoted($0))" } ?? ""
        members.append("\"forRecord\":{\"recordName\":\(quoted(root))\(tag)}")
    }
    if let publicPermission {
        members.append("\"publicPermission\":\(quoted(publicPermission))")
    }
    if let participants {
        members.append("\"participants\":[\(participants.joined(separator: ","))]")
    }
    if let more { members.append(more) }
    return operation(
        kind, name, type: type, fields: fields, tag: tag,
        more: members.isEmpty ? nil : members.joined(separator: ","))
}

extension WireClient {
    /// Makes the zone, a root and its share in one batch.
    ///
    /// - Returns: the share as the owner sees it.
    @discardableResult
    func shareNote(
        _ name: String = "note", as share: String = "note-share", zone: String = "Shelf",
        publicPermission: String? = nil, participants: [String]? = nil
    ) throws -> AnswerPart {
        try make(zone)
        let answer = try modify(
            [
                operation("create", name, type: "Note", fields: "{\"text\":{\"value\":\"Tea\"}}"),
                shareOperation(
                    "create", share, root: name, publicPermission: publicPermission,
                    participants: participants),
            ], zone: zone)
        try #require(answer.records.count == 2 && answer.records[1].code == nil, "\(answer.text)")
        return answer.records[1]
    }

    /// Saves the share anew over the version that is there.
    func changeShare(
        _ name: String = "note-share", zone: String = "Shelf", in database: String = "private",
        publicPermission: String? = nil, participants: [String]? = nil, fields: String = "{}",
        more: String? = nil
    ) throws -> AnswerPart {
        let tag = try record(name, zone: zone, in: database).tag
        return try modify(
            [
                shareOperation(
                    "update", name, publicPermission: publicPermission,
                    participants: participants, tag: tag, fields: fields, more: more)
            ], zone: zone, in: database
        ).records[0]
    }

    /// Follows links by `records/resolve` or `records/accept`.
    func follow(_ endpoint: String, _ shortGUIDs: [String], more: String = "") throws -> Answer {
        let items = shortGUIDs.map { "{\"value\":\(quoted($0))\(more)}" }
        return try send(
            "public/records/\(endpoint)", "{\"shortGUIDs\":[\(items.joined(separator: ","))]}")
    }

    func resolve(_ shortGUID: String, more: String = "") throws -> Answer {
        try follow("resolve", [shortGUID], more: more)
    }

    @discardableResult
    func accept(_ shortGUID: String, more: String = "") throws -> Answer {
        try follow("accept", [shortGUID], more: more)
    }
}

extension AnswerPart {
    /// The participants that a share shows, by what tells them apart: name, else address, else type.
    var participants: [String: AnswerPart] {
        var found: [String: AnswerPart] = [:]
        for entry in self["participants"].elements {
            let identity = entry["userIdentity"]
            let key =
                identity["lookupInfo"]["emailAddress"].string
                ?? identity["lookupInfo"]["phoneNumber"].string
                ?? identity["userRecordName"].string ?? entry["type"].string ?? ""
            found[key] = entry
        }
        return found
    }

    var shortGUID: String { self["shortGUID"].string ?? "" }
}
