import Foundation

/// One client of a private database on one connection, which speaks the protocol's JSON.
final class DatabaseClient {
    /// What it takes to be let in as one of the users.
    struct Access: Sendable {
        let container: String
        let apiToken: String
        /// One for each user.
        let webTokens: [String]
    }

    /// What became of a request.
    enum Reply<Value> {
        case success(Value)
        case fault(code: String, reason: String, status: Int)
        case lost(String)
    }

    /// One page of the database feed.
    struct ZonePage {
        let zones: [(name: String, isDeleted: Bool)]
        let token: String
        let moreComing: Bool
    }

    private let connection: WireConnection
    private let access: Access
    let user: Int

    init(address: String, access: Access, user: Int) {
        connection = WireConnection(address: address)
        self.access = access
        self.user = user
    }

    /// The monotonic clock of every span.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    // MARK: - Requests

    /// Sends a batch; one outcome an operation.
    func modify(
        _ zone: String, _ operations: [Operation], isAtomic: Bool
    ) -> Reply<[Outcome]> {
        let items = operations.map(Self.json).joined(separator: ",")
        let reply = post(
            "records/modify",
            "{\"zoneID\":{\"zoneName\":\"\(zone)\"},\"atomic\":\(isAtomic),"
                + "\"operations\":[\(items)]}")
        return reply.map { object in
            let records = object["records"] as? [[String: Any]] ?? []
            guard records.count == operations.count else { return nil }
            return zip(operations, records).map { Self.outcome($0, $1) }
        }
    }

    /// Looks records up; nil where there is none.
    func lookup(_ zone: String, _ names: [String]) -> Reply<[RecordVersion?]> {
        let items = names.map { "{\"recordName\":\"\($0)\"}" }.joined(separator: ",")
        let reply = post(
            "records/lookup", "{\"zoneID\":{\"zoneName\":\"\(zone)\"},\"records\":[\(items)]}")
        return reply.map { object in
            let records = object["records"] as? [[String: Any]] ?? []
            guard records.count == names.count else { return nil }
            var versions: [RecordVersion?] = []
            for record in records {
                if record["serverErrorCode"] as? String == "NOT_FOUND" {
                    versions.append(nil)
                } else if let version = Self.version(record) {
                    versions.append(version)
                } else {
                    return nil
                }
            }
            return versions
        }
    }

    /// Reads one page of a zone's feed.
    func changes(
        _ zone: String, after token: String?, limit: Int, newestFirst: Bool
    ) -> Reply<
        (records: [(name: String, version: RecordVersion?)], token: FeedToken, moreComing: Bool)
    > {
        let after = token.map { ",\"syncToken\":\"\($0)\"" } ?? ""
        let reply = post(
            "changes/zone",
            "{\"zones\":[{\"zoneID\":{\"zoneName\":\"\(zone)\"},\"resultsLimit\":\(limit),"
                + "\"reverse\":\(newestFirst)\(after)}]}")
        if case .success(let object) = reply,
            let item = (object["zones"] as? [[String: Any]])?.first,
            let code = item["serverErrorCode"] as? String
        {
            let isExpired = item["changeTokenExpired"] as? Bool == true
            return .fault(
                code: isExpired ? "EXPIRED" : code, reason: item["reason"] as? String ?? "",
                status: 200)
        }
        return reply.map { object in
            guard let item = (object["zones"] as? [[String: Any]])?.first,
                let token = FeedToken(item["syncToken"] as? String ?? "")
            else { return nil }
            var records: [(name: String, version: RecordVersion?)] = []
            for record in item["records"] as? [[String: Any]] ?? [] {
                guard let name = record["recordName"] as? String else { return nil }
                let isDeleted = record["deleted"] as? Bool == true
                let version = isDeleted ? nil : Self.version(record)
                guard isDeleted || version != nil else { return nil }
                records.append((name, version))
            }
            return (records, token, item["moreComing"] as? Bool ?? false)
        }
    }

    /// Reads one page of the database's feed.
    func databaseChanges(after token: String?, limit: Int) -> Reply<ZonePage> {
        let after = token.map { ",\"syncToken\":\"\($0)\"" } ?? ""
        return post("changes/database", "{\"resultsLimit\":\(limit)\(after)}").map { object in
            guard let token = object["syncToken"] as? String else { return nil }
            return ZonePage(
                zones: Self.zones(object), token: token,
                moreComing: object["moreComing"] as? Bool ?? false)
        }
    }

    /// The zones that exist, but for the default one.
    func zones() -> Reply<[String]> {
        post("zones/list", "{}").map { object in
            Self.zones(object).map(\.name).filter { $0 != "_defaultZone" }
        }
    }

    /// Makes or deletes a zone.
    func modifyZone(_ zone: String, deletes: Bool) -> Reply<Void> {
        let reply = post(
            "zones/modify",
            "{\"operations\":[{\"operationType\":\"\(deletes ? "delete" : "create")\","
                + "\"zone\":{\"zoneID\":{\"zoneName\":\"\(zone)\"}}}]}")
        if case .success(let object) = reply,
            let item = (object["zones"] as? [[String: Any]])?.first,
            let code = item["serverErrorCode"] as? String
        {
            return .fault(code: code, reason: item["reason"] as? String ?? "", status: 200)
        }
        return reply.map { _ in () }
    }

    /// Asks an address beside the protocol; the status.
    func get(_ path: String) -> Int? {
        guard case .answered(let status, _) = connection.send("GET", path, "") else { return nil }
        return status
    }

    // MARK: - Form

    private func post(_ operation: String, _ body: String) -> Reply<[String: Any]> {
        let target =
            "/database/1/\(access.container)/development/private/\(operation)"
            + "?ckAPIToken=\(access.apiToken)&ckWebAuthToken=\(access.webTokens[user])"
        switch connection.send("POST", target, body) {
        case .lost(let why): return .lost(why)
        case .answered(let status, let body):
            let parsed = try? JSONSerialization.jsonObject(with: body)
            guard let object = parsed as? [String: Any] else {
                return .fault(
                    code: "NO_JSON", reason: String(decoding: body, as: UTF8.self), status: status)
            }
            guard status == 200 else {
                return .fault(
                    code: object["serverErrorCode"] as? String ?? "NO_CODE",
                    reason: object["reason"] as? String ?? "", status: status)
            }
            return .success(object)
        }
    }

    private static func zones(_ object: [String: Any]) -> [(name: String, isDeleted: Bool)] {
        (object["zones"] as? [[String: Any]] ?? []).compactMap { zone in
            let name = (zone["zoneID"] as? [String: Any])?["zoneName"] as? String
            return name.map { ($0, zone["deleted"] as? Bool == true) }
        }
    }

    private static func json(_ operation: Operation) -> String {
        let kind =
            switch operation.kind {
            case .create: "create"
            case .update: "update"
            case .force: "forceReplace"
            case .delete: "delete"
            case .forceDelete: "forceDelete"
            }
        let tag = operation.base.map {
            ",\"recordChangeTag\":\"\(String($0, radix: 36))\""
        }
        let fields =
            operation.deletes
            ? ""
            : ",\"recordType\":\"Mark\",\"fields\":{\"value\":{\"value\":\"\(operation.value)\"},"
                + "\"padding\":{\"value\":\"\(padding(of: operation.value))\"}}"
        return "{\"operationType\":\"\(kind)\",\"record\":{\"recordName\":\"\(operation.name)\""
            + "\(tag ?? "")\(fields)}}"
    }

    private static func outcome(_ operation: Operation, _ record: [String: Any]) -> Outcome {
        if let code = record["serverErrorCode"] as? String {
            let holds = (record["serverRecord"] as? [String: Any]).flatMap(version)
            return .refused(code: code, holds: holds)
        }
        if operation.deletes {
            return record["deleted"] as? Bool == true
                ? .deleted : .refused(code: "NOT_SAID_DELETED")
        }
        guard let version = version(record), version.value == operation.value else {
            return .refused(code: "OTHER_RECORD_ANSWERED")
        }
        return .saved(version.tag)
    }

    /// Reads a record; one whose content is not whole has a value that nobody wrote.
    private static func version(_ record: [String: Any]) -> RecordVersion? {
        func text(_ field: String) -> String? {
            let fields = record["fields"] as? [String: Any]
            return (fields?[field] as? [String: Any])?["value"] as? String
        }
        guard let tag = Int64(record["recordChangeTag"] as? String ?? "", radix: 36),
            let value = text("value")
        else { return nil }
        let isWhole = text("padding") == padding(of: value)
        return RecordVersion(tag: tag, value: isWhole ? value : "\(value), torn")
    }

    /// What goes along with a value: mostly little, at times more than a page of the file.
    private static func padding(of value: String) -> String {
        let number = Int(value.split(separator: "-").last ?? "") ?? 0
        let count = number % 29 == 0 ? 1_500 : number % 7
        return String(repeating: value + ".", count: count)
    }
}

extension DatabaseClient.Reply {
    /// Reads a success; what cannot be read is a fault of the server.
    func map<Other>(_ read: (Value) -> Other?) -> DatabaseClient.Reply<Other> {
        switch self {
        case .success(let value):
            read(value).map { .success($0) }
                ?? .fault(code: "UNREADABLE", reason: "\(value)", status: 200)
        case .fault(let code, let reason, let status):
            .fault(code: code, reason: reason, status: status)
        case .lost(let why): .lost(why)
        }
    }
}
