import Accounts
import CloudModel
import Cryptography
import Foundation
import Storage
import Testing

@Suite("People and their addresses")
struct UserTests {
    @Test("A made account has a UUID, names, and its e-mail address verified")
    func create() throws {
        let server = try TestServer()
        let users = Users(catalog: server.catalog)
        let made = try users.create(
            email: "Ida.Roe@Example.org", givenName: "Ida", familyName: "Roe",
            phone: "+1 (555) 010-0199", now: 5)
        #expect(UUID(uuidString: made.id.text)?.uuidString.lowercased() == made.id.text)
        #expect(made.id.text.utf8.dropFirst(14).first == UInt8(ascii: "4"))
        #expect(made.email == "Ida.Roe@Example.org")
        #expect(made.addresses.map(\.verifiedAt) == [5, nil])
        #expect(try users.find(email: "ida.roe@example.ORG") == made)
        #expect(try users.list().items == [made])
        #expect(throws: CatalogRefusal.addressTaken) {
            try users.create(email: "ida.roe@example.org", now: 6)
        }
        #expect(try users.list().items == [made])
        #expect(throws: AccountsRefusal.userUnknown) { try users.find(email: "no@example.org") }
    }

    @Test("An unverified phone number is nobody's until one account has it verified")
    func verify() throws {
        let server = try TestServer()
        let users = Users(catalog: server.catalog)
        _ = try users.create(email: "ida@example.org", phone: "+15550100199", now: 1)
        _ = try users.create(email: "mo@example.org", phone: "+1 555 010 0199", now: 1)
        let phone = try AddressFormat.phone("+1-555-0100-199")
        #expect(try server.catalog.account(verified: phone) == nil)
        let ida = try users.verify(email: "ida@example.org", address: "+1 555-0100199", now: 2)
        #expect(try server.catalog.account(verified: phone) == ida)
        #expect(ida.addresses.count == 2)
        #expect(throws: CatalogRefusal.addressTaken) {
            try users.verify(email: "mo@example.org", address: "+15550100199", now: 3)
        }
        // Verifying again changes nothing.
        #expect(try users.verify(email: "ida@example.org", address: "+15550100199", now: 9) == ida)
    }

    @Test("A further e-mail address is theirs, names them in commands, and cannot be another's")
    func furtherAddress() throws {
        let server = try TestServer()
        let users = Users(catalog: server.catalog)
        let ida = try server.user("ida@example.org")
        try server.user("mo@example.org")
        let verified = try users.verify(
            email: "ida@example.org", address: "Ida@work.example", now: 2)
        #expect(verified.addresses.count == 2)
        #expect(verified.email == "ida@example.org")
        #expect(try users.find(email: "ida@WORK.example").id == ida.id)
        for taken in ["ida@example.org", "ida@work.example"] {
            #expect(throws: CatalogRefusal.addressTaken) {
                try users.verify(email: "mo@example.org", address: taken, now: 3)
            }
        }
        #expect(throws: AccountsRefusal.userUnknown) {
            try users.verify(email: "no@example.org", address: "a@example.org", now: 3)
        }
    }

    @Test(
        "What is no e-mail address is refused",
        arguments: [
            "", "ida", "@example.org", "ida@", "ida@@example.org", "a@b@c", "ida @example.org",
            "ida@example..org", "ida@.org", "ida@example.org.", "ida\n@example.org",
            "<ida@example.org>",
            "ida@example.org\u{0}", "a,b@example.org", String(repeating: "a", count: 65) + "@b.c",
            "a@" + String(repeating: "b", count: 253),
        ])
    func noEmail(text: String) throws {
        #expect(throws: AccountsRefusal.emailIllegal) { try AddressFormat.email(text) }
    }

    @Test(
        "What is no phone number is refused",
        arguments: [
            "", "1234", "+1234", "1234567890123456", "12345a", "1+23456", "++12345", "１２３４５６",
            "٣٤٥٦٧٨",
        ])
    func noPhone(text: String) {
        #expect(throws: AccountsRefusal.phoneIllegal) { try AddressFormat.phone(text) }
        #expect(throws: AccountsRefusal.addressIllegal) { try AddressFormat.any(text) }
    }

    @Test("Names with control characters or without end are refused")
    func names() throws {
        let server = try TestServer()
        let users = Users(catalog: server.catalog)
        for name in ["", "a\u{7}", "a\u{2028}b", String(repeating: "é", count: 65)] {
            #expect(throws: AccountsRefusal.nameIllegal) {
                try users.create(email: "a@example.org", givenName: name, now: 0)
            }
            #expect(throws: AccountsRefusal.nameIllegal) {
                try users.create(email: "a@example.org", familyName: name, now: 0)
            }
        }
        _ = try users.create(email: "a@example.org", givenName: "نور", familyName: "Ó Sé", now: 0)
    }

    @Test("A password is kept as a salted hash that only it matches")
    func password() throws {
        let server = try TestServer()
        let users = Users(catalog: server.catalog)
        for wrong in [[], Array("1234567".utf8), [UInt8](repeating: 1, count: 1_025)] {
            #expect(throws: AccountsRefusal.passwordIllegal) {
                try users.create(email: "a@example.org", password: wrong, now: 0)
            }
        }
        let secret = Array("correct horse".utf8)
        let kept = try #require(
            try users.create(email: "a@example.org", password: secret, now: 0).password)
        #expect(!kept.contains("horse"))
        #expect(PasswordHash.matches(secret, kept))
        #expect(!PasswordHash.matches(Array("correct hors".utf8), kept))
        #expect(try users.find(email: "a@example.org").password == kept)
    }

    @Test("A user has the same name in a container for ever and unrelated ones in two")
    func userRecordNames() throws {
        let server = try TestServer()
        let account = try server.user()
        let name = try server.webToken().userRecordName
        #expect(try server.webToken(environment: .production).userRecordName == name)
        let names = try UserRecordNames(catalog: server.catalog, random: .system)
        #expect(names.name(of: account.id, in: server.container) == name)
        let upper = try #require(ContainerID(server.container.name.uppercased()))
        #expect(names.name(of: account.id, in: upper) == name)
        let other = try #require(ContainerID("iCloud.other"))
        #expect(names.name(of: account.id, in: other) != name)
        #expect(try server.catalog.account(named: name, in: server.container) == account.id)
        #expect(try server.catalog.account(named: name, in: other) == nil)
        // Another server derives other names.
        let elsewhere = try UserRecordNames(catalog: TestServer().catalog, random: .system)
        #expect(elsewhere.name(of: account.id, in: server.container) != name)
    }
}
