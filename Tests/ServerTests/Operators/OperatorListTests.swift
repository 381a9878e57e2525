import Administration
import CloudModel
import Storage
import Testing

@testable import Server

@Suite("Operators: their list")
struct OperatorListTests {
    @Test("Operators are found by an address, or by how the IDs of their accounts begin")
    func searched() throws {
        let temporary = try TemporaryFolder()
        let server = try FolderServer(data: temporary.path("data"))
        defer { server.stop() }
        let local = Administrator(.commandLine(userNumber: 0), on: server.folder)
        for email in ["ann@a.example", "bob@a.example"] {
            _ = try local.perform(
                CreateOperator(
                    email, rights: NamedRights(containers: [], isReadOnly: false),
                    password: Array("correct horse".utf8)))
        }
        _ = try local.perform(CreateAccount(email: "cy@a.example"))
        func found(_ search: String) throws -> [String] {
            try local.perform(ListOperators(ListRequest(prefix: search))).items.map(\.email)
        }
        let ann = try server.folder.users.find(email: "ann@a.example").id
        #expect(try found("").sorted() == ["ann@a.example", "bob@a.example"])
        #expect(try found("Ann@A.example") == ["ann@a.example"])
        #expect(try found(String(ann.text.prefix(12))) == ["ann@a.example"])
        for nobody in ["cy@a.example", "dee@a.example", "ann@", "%"] {
            #expect(try found(nobody) == [], "\(nobody)")
        }
    }
}
