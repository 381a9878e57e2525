import CloudModel
import Storage
import Testing
import WebServices

/// Stores may lie on different nodes, so no request needs two.
@Suite("The store of a request")
struct StoreOfRequestTests {
    private let server: WireServer
    private let ida: WireClient
    private let mo: WireClient
    private let link: String

    init() throws {
        server = try WireServer()
        ida = try server.user()
        mo = try server.user("mo")
        // Others have the same things, for whom the same users could be taken.
        for (container, environment) in [
            (WireServer.tea, CloudModel.Environment.production), (WireServer.mate, .development),
        ] {
            let other = try server.user("ida", container, environment)
            try other.make("Shelf")
        }
        try mo.make("Shelf")
        let share = try ida.shareNote(publicPermission: "READ_ONLY")
        link = share.shortGUID
        try ida.save("cup", #"{"name":{"value":"Lid"}}"#)
    }

    /// A request of each operation that finds something to do.
    private func request(of operation: String) -> (path: String, body: String) {
        let zone = #""zoneID":{"zoneName":"Shelf"}"#
        let links = #"{"shortGUIDs":[{"value":"\#(link)"}]}"#
        let subscription =
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
            + #""subscriptionType":"zone",\#(zone)}}]}"#
        let bodies = [
            "records/modify": #"{\#(zone),"operations":[\#(saving)]}"#,
            "records/lookup": #"{\#(zone),"records":[{"recordName":"cup"}]}"#,
            "records/query": #"{\#(zone),"query":{"recordType":"Cup"}}"#,
            "records/changes": "{\(zone)}",
            "records/resolve": links, "records/accept": links, "records/requestAccess": links,
            "assets/upload":
                #"{\#(zone),"tokens":[{"recordName":"cup","recordType":"Cup","fieldName":"f"}]}"#,
            "assets/rereference":
                #"{\#(zone),"assets":[{"recordName":"cup","fieldName":"f"}]}"#,
            "zones/lookup": #"{"zones":[{"zoneName":"Shelf"}]}"#,
            "zones/modify": #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#,
            "changes/zone": "{\"zones\":[{\(zone)}]}",
            "subscriptions/modify": subscription,
            "subscriptions/lookup": #"{"subscriptions":["s"]}"#,
            "users/lookup/email": #"{"users":[{"emailAddress":"mo@example.org"}]}"#,
            "users/lookup/id": #"{"users":[{"userRecordName":"\#(ida.name)"}]}"#,
            "tokens/create": #"{"apnsEnvironment":"development","clientId":"d"}"#,
            "tokens/register": #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#,
            "accounts/web-token": #"{"externalID":"u-17"}"#,
        ]
        let isPublic = operation.hasPrefix("users/") || bodies[operation] == links
        return ("\(isPublic ? "public" : "private")/\(operation)", bodies[operation] ?? "{}")
    }

    private var saving: String { operation("forceReplace", "cup", fields: "{}") }

    @Test("A request reaches the store of its container environment, and no other one")
    func one() throws {
        let own = StoreKey(try WireServer.id(WireServer.tea), .development)
        var reaching: Set<String> = []
        for operation in RouteTable.operations {
            let (path, body) = request(of: operation)
            let isOfKeys = operation == "accounts/web-token"
            let clients = [ida, mo, try server.key(scope: .container)]
            _ = server.reached.take()
            for client in clients {
                let answer = try client.send(
                    isOfKeys ? "web-token" : path, body,
                    module: isOfKeys
                        ? "accounts" : operation.hasPrefix("tokens/") ? "device" : "database")
                #expect(answer.status != 404 && answer.status < 500, "\(operation) \(answer.text)")
            }
            let reached = server.reached.take()
            #expect(reached.isSubset(of: [own]), "\(operation)")
            if !reached.isEmpty { reaching.insert(operation) }
        }
        // Who a caller is the catalog knows, and all else a store.
        let others = RouteTable.operations.filter { !$0.hasPrefix("users/") }
        #expect(reaching.isSuperset(of: others.filter { $0 != "accounts/web-token" }))
    }
}
