import CloudKitStore
import XCTest

final class LocalStoreTests: XCTestCase {
    private var file: URL!

    override func setUp() {
        file = FileManager.default.temporaryDirectory
            .appendingPathComponent("store-\(UUID().uuidString)/store.sqlite")
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }

    func testOnlyItsOwnerCanReadTheFile() throws {
        let store = try LocalStore(file: file)
        try StoredTokens(store).keep("secret", of: "name")
        for path in [file.path, file.deletingLastPathComponent().path] {
            let found = try FileManager.default.attributesOfItem(atPath: path)
            let permissions = (found[.posixPermissions] as? NSNumber)?.intValue ?? 0
            XCTAssertEqual(permissions & 0o077, 0, path)
        }
    }

    func testTokensAreThereInTheNextRunAndGoWhenTheirSessionEnds() throws {
        try StoredTokens(LocalStore(file: file)).keep("first", of: "name")
        let tokens = StoredTokens(try LocalStore(file: file))
        XCTAssertEqual(try tokens.token(of: "name"), "first")
        try tokens.keep("second", of: "name")
        XCTAssertEqual(try tokens.token(of: "name"), "second")
        try tokens.keep(nil, of: "name")
        XCTAssertNil(try tokens.token(of: "name"))
    }

    func testOperationsAreKeptWithTheirAnswersUntilTheyEndOrADayHasGone() throws {
        let operations = StoredOperations(try LocalStore(file: file))
        let now = Date(timeIntervalSince1970: 1_000_000)
        let stored = StoredOperations.Stored(
            id: "o", container: "c", kind: "k", scope: 2, input: [1, 2])
        try operations.keep(stored, now: now)
        try operations.keep(stored, now: now)
        try operations.note([3], to: "a", number: 0, of: "o", now: now)
        try operations.note([], to: "b", number: 1, of: "o", now: now)
        let again = StoredOperations(try LocalStore(file: file))
        XCTAssertEqual(try again.operation("o"), stored)
        XCTAssertEqual(try again.answers(of: "o").map(\.path), ["a", "b"])
        XCTAssertEqual(try again.answers(of: "o").map(\.body), [[3], []])
        XCTAssertEqual(try again.ids(of: "c", now: now), ["o"])
        XCTAssertEqual(try again.ids(of: "d", now: now), [])
        XCTAssertEqual(try again.ids(of: "c", now: now.addingTimeInterval(25 * 3_600)), [])
        XCTAssertNil(try again.operation("o"))
        XCTAssertEqual(try again.answers(of: "o").count, 0)
    }
}
