import XCTest

/// The example, as people use it: programs of their own, with a file that names the server.
final class ContactsTests: XCTestCase {
    private struct Person {
        let service: URL
        let home: URL
    }

    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("contacts-\(UUID().uuidString)")

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func person(_ email: String, _ server: ReleaseServer) throws -> Person {
        let home = folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        return Person(service: try server.serviceFile(of: email), home: home)
    }

    /// - Returns: what the program prints, and how it ends.
    private func contacts(_ person: Person, _ arguments: String...) throws -> (String, Int32) {
        let done = try RunningProgram.run(
            [try BuiltPackage().program("Contacts")] + arguments,
            environment: [
                "LENTICULAR_SERVICE_FILE": person.service.path, "HOME": person.home.path,
            ])
        return (done.output, done.status)
    }

    func testContactsAreKeptSharedAcceptedAndNotedInSecret() throws {
        let server = try ReleaseServer()
        let ann = try person("ann@example.org", server)
        let bob = try person("bob@example.org", server)
        XCTAssertEqual(try contacts(ann, "add", "Cleo", "+49 30 1").1, 0)
        XCTAssertEqual(try contacts(ann, "add", "Dan", "+49 30 2").1, 0)
        let link = try contacts(ann, "share", "Cleo", "bob@example.org").0
            .trimmingCharacters(in: .whitespacesAndNewlines)
        XCTAssertTrue(link.contains("/share/"), link)
        let accepted = try contacts(bob, "accept", link)
        XCTAssertEqual(accepted.1, 0, accepted.0)
        XCTAssertEqual(try contacts(bob, "list").0, "shared: Cleo  +49 30 1\n")
        XCTAssertEqual(try contacts(ann, "note", "Dan", "owes me a book").1, 0)
        XCTAssertEqual(
            try contacts(ann, "list").0, "Cleo  +49 30 1\nDan  +49 30 2  (owes me a book)\n")
        XCTAssertFalse(server.hasStored("owes me a book"))
        let refused = try contacts(ann, "note", "Cleo", "shared, so no secret")
        XCTAssertEqual(refused.1, 1)
        XCTAssertTrue(refused.0.contains("shared"), refused.0)

        // Another device of the same person reads the note with the code alone.
        let code = try contacts(ann, "code").0.trimmingCharacters(in: .whitespacesAndNewlines)
        let second = Person(
            service: ann.service, home: try person("ann@example.org", server).home)
        XCTAssertEqual(try contacts(second, "list").0, "Cleo  +49 30 1\nDan  +49 30 2\n")
        XCTAssertEqual(try contacts(second, "unlock", code).1, 0)
        XCTAssertTrue(try contacts(second, "list").0.contains("owes me a book"))
        XCTAssertEqual(try contacts(second, "frobnicate").1, 2)
    }
}
