import CloudKitWire

// Subscriptions of the caller's own.
extension MemoryRequest {
    func listSubscriptions() -> [UInt8] {
        let own = database.subscriptions.filter { $0.key.person == person }
        return Self.list("subscriptions", own.values.sorted { $0.name.id < $1.name.id }.map(\.text))
    }

    func lookUpSubscriptions() -> [UInt8] {
        Self.list(
            "subscriptions",
            items("subscriptions").map { view in
                let id = view["subscriptionID"]?.string ?? ""
                let name = MemorySubscription.Name(person: person, id: id)
                return database.subscriptions[name]?.text ?? Self.fault(Self.notFound, of: id)
            })
    }

    private static let notFound = MemoryFault(
        code: "NOT_FOUND", reason: "Subscription not found")

    private static func fault(_ fault: MemoryFault, of id: String) -> [UInt8] {
        Self.fault(fault) { $0.member("subscriptionID", id) }
    }

    mutating func modifySubscriptions() -> [UInt8] {
        var answers: [[UInt8]] = []
        for operation in items("operations") {
            guard let view = operation["subscription"] else { continue }
            do {
                answers.append(try apply(operation["operationType"]?.string ?? "", view))
            } catch {
                answers.append(Self.fault(error, of: view["subscriptionID"]?.string ?? ""))
            }
        }
        return Self.list("subscriptions", answers)
    }

    private mutating func apply(_ kind: String, _ view: JSONView) throws(MemoryFault) -> [UInt8] {
        let id = view["subscriptionID"]?.string ?? ""
        let name = MemorySubscription.Name(person: person, id: id)
        let known = database.subscriptions[name]
        if kind == "delete" {
            guard known != nil else { throw Self.notFound }
            database.subscriptions[name] = nil
            return Self.object { json in
                json.member("subscriptionID", id)
                json.key("deleted")
                json.bool(true)
            }
        }
        let wanted = try MemorySubscription(view, of: person, in: scope)
        if kind == "update", known == nil { throw Self.notFound }
        if kind == "create", let known, known.text != wanted.text {
            throw MemoryFault(
                code: "BAD_REQUEST",
                reason: "subscriptionID: another subscription of that ID exists")
        }
        if let zone = wanted.zone { _ = try self.zone(zone) }
        database.subscriptions[name] = wanted
        return wanted.text
    }
}
