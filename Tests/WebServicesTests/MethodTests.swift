import CloudModel
import HTTP
import Testing
import WebServices

@Suite("Methods")
struct MethodTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
    }

    private static let readsWithoutBody: Set = [
        "zones/list", "zones/changes", "changes/database", "users/caller", "users/current",
        "users/discover", "users/lookup/contacts", "subscriptions/list",
    ]

    private static let others: [HTTPRequest.Method] = [
        .put, .delete, .other("PATCH"), .other("TRACE"), .other("PROPFIND"), .other("post"),
    ]

    @Test(
        "Every endpoint takes POST, GET and HEAD only those that need no body, and nothing else",
        arguments: RouteTable.operations)
    func endpoints(_ operation: String) throws {
        let isBodiless = Self.readsWithoutBody.contains(operation)
        let allowed = isBodiless ? "GET, HEAD, POST, OPTIONS" : "POST, OPTIONS"
        for method in Self.others + [.get, .head] {
            let isAllowed = isBodiless && (method == .get || method == .head)
            for client in [ida, server.visitor(), server.stranger, try server.key()] {
                let answer = try ask(operation, client, method)
                if isAllowed {
                    #expect(answer.status != 405, "\(method)")
                    continue
                }
                #expect(answer.status == 405, "\(method)")
                #expect(answer["serverErrorCode"].string == "BAD_REQUEST")
                #expect(answer["uuid"].exists && answer["reason"].exists)
                #expect(answer.header("Allow") == allowed, "\(method)")
            }
            guard !isAllowed else { continue }
            let own = try ask(operation, ida, method)
            #expect(own.header("Access-Control-Allow-Origin") == "https://tea.example")
        }
        #expect(try ask(operation, ida, .post).status != 405)
    }

    /// Sends an empty object to an endpoint, below `/database` or where its own name says.
    private func ask(
        _ operation: String, _ client: WireClient, _ method: HTTPRequest.Method
    ) throws -> Answer {
        let parts = operation.split(separator: "/", maxSplits: 1).map(String.init)
        let isAccounts = parts[0] == "accounts"
        return try client.send(
            isAccounts ? parts[1] : "private/\(operation)", "{}",
            headers: [("Origin", "https://tea.example")], method: method,
            module: isAccounts ? "accounts" : "database")
    }

    @Test("A method that is not taken changes nothing")
    func withoutEffect() throws {
        let body = """
            {"operations":[{"operationType":"forceUpdate",
            "record":{"recordName":"r","recordType":"T","fields":{"a":{"value":1}}}}]}
            """
        let zone =
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
        for method in Self.others + [.get, .head] {
            #expect(try ida.send("private/records/modify", body, method: method).status == 405)
            #expect(try ida.send("private/zones/modify", zone, method: method).status == 405)
        }
        #expect(
            try ida.lookup(["r"], zone: nil).records[0]["serverErrorCode"].string == "NOT_FOUND")
        #expect(try ida.send("private/zones/list", nil).zones.count == 1)
        #expect(try ida.send("private/records/modify", body).status == 200)
        #expect(try ida.lookup(["r"], zone: nil).records[0]["fields"].exists)
    }

    @Test("Addresses of assets have methods of their own")
    func assets() throws {
        let upload = try ida.uploadURL()
        let saved = try ida.save(
            "a", "{\"photo\":{\"value\":\(try ida.asset([1, 2, 3]).raw),\"type\":\"ASSETID\"}}",
            zone: nil)
        let file = try #require(saved["fields"]["photo"]["value"]["downloadURL"].string)
        for method in Self.others where method != .put {
            let answer = try ida.download(file, method: method)
            #expect(answer.status == 405 && answer.header("allow") == "GET, HEAD, OPTIONS")
        }
        for method in [HTTPRequest.Method.other("TRACE"), .other("PROPFIND"), .other("put")] {
            let answer = try ida.upload([1], to: upload, method: method)
            #expect(answer?.status == 405)
            #expect(answer?["serverErrorCode"].string == "BAD_REQUEST")
            #expect(
                answer?.header("Allow") == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
        }
        #expect(try ida.upload([1], to: upload)?.status == 200)
    }
}
