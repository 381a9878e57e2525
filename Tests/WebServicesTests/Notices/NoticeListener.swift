import HTTP
import Testing

/// A device that waits for notices at the courier.
struct NoticeListener {
    let client: WireClient
    let device: String
    /// Where it polls.
    let target: String
    let token: String

    /// Registers the device of a user.
    init(_ client: WireClient, device: String) throws {
        let answer = try client.send(
            "tokens/create",
            "{\"apnsEnvironment\":\"development\",\"clientId\":\(quoted(device))}", module: "device"
        )
        let url = try #require(answer["webcourierURL"].string, "\(answer.text)")
        let start = try #require(url.range(of: "/courier/"))
        self.client = client
        self.device = device
        target = String(url[start.lowerBound...])
        token = answer["apnsToken"].string ?? ""
    }

    /// The same device, which asks another server on the same data.
    init(_ device: NoticeListener, by client: WireClient) {
        self.client = client
        (self.device, target, token) = (device.device, device.target, device.token)
    }

    /// The same user, by this device.
    func by() -> WireClient {
        var client = client
        client.device = device
        return client
    }

    func poll(headers: [(name: String, value: String)] = []) throws -> Answer {
        try client.send(raw: Array(target.utf8), body: [], headers: headers, method: .get)
    }

    /// Begins a poll, which is waited for later.
    func begin(headers: [(name: String, value: String)] = []) -> WireClient.Pending {
        client.start(raw: Array(target.utf8), body: [], headers: headers, method: .get)
    }

    /// Subscribes in the user's own databases.
    @discardableResult
    func subscribe(_ subscription: String, in database: String = "private") throws -> AnswerPart {
        let made = try client.send(
            "\(database)/subscriptions/modify",
            "{\"operations\":[{\"operationType\":\"create\",\"subscription\":{\(subscription)}}]}"
        ).json["subscriptions"][0]
        try #require(made.code == nil, "\(made.raw)")
        return made
    }

    /// All that the device hears up to now.
    ///
    /// What it is told comes in order, so that what the last change of all causes ends it.
    func heard() throws -> [AnswerPart] {
        let id = "mark \(device)"
        _ = try client.send(
            "private/subscriptions/modify",
            "{\"operations\":[{\"operationType\":\"create\",\"subscription\":{"
                + "\"subscriptionID\":\(quoted(id)),\"subscriptionType\":\"query\","
                + "\"firesOn\":[\"create\",\"update\"],\"zoneID\":{\"zoneName\":\"_defaultZone\"},"
                + "\"query\":{\"recordType\":\"Mark\",\"filterBy\":{\"fieldName\":\"of\","
                + "\"comparator\":\"EQUALS\",\"fieldValue\":{\"value\":\(quoted(device))}}}}}]}")
        try client.save(
            "mark-\(device)", "{\"of\":{\"value\":\(quoted(device))}}", type: "Mark", zone: nil)
        var found: [AnswerPart] = []
        while true {
            let answer = try poll()
            let notice = answer.json["ck"]
            try #require(answer.status == 200 && notice.exists, "\(answer.status) \(answer.text)")
            if notice["qry"]["sid"].string == id { return found }
            // Others' marks are nobody's news.
            guard notice["qry"]["sid"].string?.hasPrefix("mark ") != true else { continue }
            found.append(answer.json)
        }
    }

    /// The same in a few words each, such as `news:Shelf/a+` for a record that was made.
    func words() throws -> [String] { try heard().map(Self.word) }

    static func word(_ notice: AnswerPart) -> String {
        let about = notice["ck"]
        if about["qry"].exists {
            let query = about["qry"]
            let sign = ["", "+", "~", "-"][Int(query["fo"].int ?? 0)]
            return "\(query["sid"].string ?? "?"):\(query["zid"].string ?? "?")/"
                + "\(query["rid"].string ?? "?")\(sign)"
        }
        let kind = about["fet"].exists ? "fet" : "met"
        return "\(about[kind]["sid"].string ?? "?"):\(about[kind]["zid"].string ?? "?") "
            + "\(kind) \(about[kind]["dbs"].int ?? -1)"
    }
}

/// A query subscription as JSON.
func querySubscription(
    _ id: String, type: String = "Cup", firesOn: [String] = ["create", "update", "delete"],
    filter: String? = nil, more: String = ""
) -> String {
    let words = firesOn.map { "\"\($0)\"" }.joined(separator: ",")
    let filters = filter.map { ",\"filterBy\":[\($0)]" } ?? ""
    return "\"subscriptionID\":\(quoted(id)),\"subscriptionType\":\"query\",\"firesOn\":[\(words)],"
        + "\"query\":{\"recordType\":\"\(type)\"\(filters)}\(more)"
}

/// A filter that compares a text.
func textFilter(_ field: String, _ comparator: String, _ text: String) -> String {
    "{\"fieldName\":\"\(field)\",\"comparator\":\"\(comparator)\","
        + "\"fieldValue\":{\"value\":\(quoted(text))}}"
}
