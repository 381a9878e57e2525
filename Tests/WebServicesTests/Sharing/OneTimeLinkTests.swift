import CloudModel
import Foundation
import Storage
import Synchronization
import Testing

/// Links that are good for whoever comes first (rulings.md 49).
@Suite("One-time links")
struct OneTimeLinkTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient
    let eve: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        mo = try server.user("mo")
        eve = try server.user("eve")
    }

    private static let link = invitation(
        permission: "READ_WRITE", type: "USER", more: "\"oneTimeLink\":true")

    /// Shares a note with whoever comes first.
    ///
    /// - Returns: the share, and the last part of the link's address.
    private func share(_ participants: [String] = [link]) throws -> (AnswerPart, link: String) {
        let share = try ida.shareNote(participants: participants)
        let url = try #require(share.links.first)
        return (share, String(url.split(separator: "/").last ?? ""))
    }

    @Test("The owner is shown an address with a secret of 128 bits, which stays the same")
    func address() throws {
        let (share, link) = try share()
        let url = try #require(share.links.first)
        #expect(url.hasPrefix("https://sync.example/share/\(share.shortGUID)~"))
        #expect(link.split(separator: "~").last?.utf8.count == 22)
        #expect(try ida.record("note-share").links == [url])
        // What is sent back is the participant that was shown.
        let entry = try #require(share["participants"].elements.first { $0["oneTimeURL"].exists })
        #expect(entry["userIdentity"].raw == "{\"nameComponents\":{}}")
        #expect(entry["type"].string == "USER" && entry["acceptanceStatus"].string == "INVITED")
        let kept = try ida.changeShare(participants: share["participants"].elements.map(\.raw))
        #expect(kept.links == [url])
        #expect(kept["participants"].elements.count == 2)
    }

    @Test("Looking claims nothing; the first to accept is the participant, and nobody after them")
    func claiming() throws {
        let (share, link) = try share()
        for _ in 0..<3 {
            let seen = try mo.resolve(link).json["results"][0]
            #expect(seen["participantStatus"].string == "INVITED")
            #expect(seen["participantPermission"].string == "READ_WRITE")
            #expect(!seen.raw.contains("oneTimeURL"))
        }
        #expect(try ida.record("note-share").raw == share.raw)
        // Without the secret, and with another, there is nothing.
        #expect(try mo.accept(share.shortGUID).code == "NOT_FOUND")
        #expect(try mo.accept("\(share.shortGUID)~AAAAAAAAAAAAAAAAAAAAAA").code == "NOT_FOUND")
        let joined = try mo.accept(link).json["results"][0]
        #expect(joined["participantStatus"].string == "ACCEPTED")
        #expect(joined["participantType"].string == "USER")
        #expect(joined["shortGUID"]["value"].string == link)
        let now = try ida.record("note-share")
        #expect(
            now.links.isEmpty && now.participants[mo.name]?["permission"].string == "READ_WRITE")
        #expect(try eve.accept(link).code == "NOT_FOUND")
        // To who has come it is as the plain one.
        #expect(try mo.resolve(link).status == 200 && mo.resolve(share.shortGUID).status == 200)
        #expect(try server.problems().isEmpty)
    }

    @Test("Of 64 who come at once one gets in")
    func race() throws {
        let (share, link) = try share()
        let users = try (0..<64).map { try server.user("guest\($0)", seconds: 86_400) }
        let codes = Mutex<[String?]>([])
        DispatchQueue.concurrentPerform(iterations: users.count) { index in
            let code = try? users[index].accept(link)
            codes.withLock { $0.append(code.map { $0.code ?? "in" }) }
        }
        let found = codes.withLock { $0 }
        #expect(found.count == 64 && found.filter { $0 == "in" }.count == 1)
        #expect(found.filter { $0 == "NOT_FOUND" }.count == 63)
        #expect(try ida.record("note-share")["participants"].elements.count == 2)
        #expect(share.shortGUID == share.shortGUID)
    }

    @Test("Who takes part already does not use the link up")
    func participants() throws {
        let (share, link) = try share([Self.link, invitation(email: "mo@example.org")])
        #expect(try mo.accept(link).status == 200)
        #expect(try ida.accept(link).status == 200)
        #expect(try ida.record("note-share").links == share.links)
        #expect(try eve.accept(link).status == 200)
    }

    @Test("A participant who is taken out takes the link along; another one has another link")
    func removing() throws {
        let (share, link) = try share()
        let anew = try ida.changeShare(participants: [Self.link])
        #expect(anew.links.count == 1 && anew.links != share.links)
        #expect(try mo.accept(link).code == "NOT_FOUND")
        let gone = try ida.changeShare(participants: [])
        #expect(gone.links.isEmpty)
        #expect(try mo.accept(String(anew.links[0].split(separator: "/").last ?? "")).code != nil)
    }

    @Test("Only those who decide see the address, administrators among them")
    func whoSees() throws {
        let (_, _) = try share([
            Self.link, invitation(email: "mo@example.org", type: "ADMINISTRATOR"),
            invitation(email: "eve@example.org"),
        ])
        let guid = try ida.record("note-share").shortGUID
        try mo.accept(guid)
        try eve.accept(guid)
        let shared = ida.shelf
        #expect(try mo.share(in: shared).links.count == 1)
        let seen = try eve.share(in: shared)
        #expect(seen.links.isEmpty && seen["participants"].elements.count == 4)
    }

    @Test(
        "What a link for one person cannot be is refused",
        arguments: [
            (invitation(email: "a@b.example", more: "\"oneTimeLink\":true"), "names nobody"),
            (invitation(type: "ADMINISTRATOR", more: "\"oneTimeLink\":true"), "ADMINISTRATOR"),
        ])
    func refused(_ entry: String, _ reason: String) throws {
        try ida.make("Shelf")
        let answer = try ida.modify([
            operation("create", "note", type: "Note", fields: "{}"),
            shareOperation("create", "s", root: "note", participants: [entry]),
        ])
        #expect(answer.records[1].code == "BAD_REQUEST")
        #expect(answer.records[1].reason.contains(reason))
    }

    @Test("More of them than a share has participants are refused, however they are sent")
    func limit() throws {
        let server = try WireServer { $0.participantsPerShareMax = 3 }
        let ida = try server.user("ida")
        try ida.make("Shelf")
        func made(_ count: Int) throws -> AnswerPart {
            try ida.modify([
                operation("create", "note\(count)", type: "Note", fields: "{}"),
                shareOperation(
                    "create", "s\(count)", root: "note\(count)",
                    participants: Array(repeating: Self.link, count: count)),
            ]).records[1]
        }
        #expect(try made(3).links.count == 3)
        #expect(try made(4)["detail"].string == "tooManyParticipants")
        #expect(try made(50)["detail"].string == "tooManyParticipants")
    }
}

extension AnswerPart {
    /// The addresses for whoever comes first that a share shows.
    var links: [String] {
        self["participants"].elements.compactMap { $0["oneTimeURL"].string }
    }
}
