import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// `zones/list` (web-services.md §4.7).
enum ListZonesEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let database = try context.database()
        // The request needs no body. But an unreadable body is a mistake that its sender should learn of.
        _ = try context.body()
        return try context.read { snapshot in
            var writer = JSONWriter(reserving: 1_024)
            writer.raw("{\"zones\":[")
            try ListZones(database, key: context.store.tokenKey, snapshot: snapshot)
                .appendAll(to: &writer)
            writer.raw("]}")
            return writer.bytes
        }
    }
}

/// `zones/lookup` (web-services.md §4.8).
enum LookupZonesEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let database = try context.database()
        let body = try context.body()
        let asked = try body.items("zones", context.limits)
        return try context.read { snapshot in
            let zones = try ListZones(database, key: context.store.tokenKey, snapshot: snapshot)
            let items = try asked.map { try item($0, context) }
            var found = try zones.lookUp(items.compactMap(\.id))[...]
            var writer = JSONWriter(reserving: 1_024)
            writer.raw("{\"zones\":[")
            for (index, item) in items.enumerated() {
                if index > 0 { writer.raw(",") }
                switch item.zone.flatMap({ _ in found.popFirst() ?? .failure(.zoneNotFound) }) {
                case .success(let zone): writer.raw(zone)
                case .failure(let fault):
                    FaultResponse.append(zone: item.spelling, fault, to: &writer)
                }
            }
            writer.raw("]}")
            return writer.bytes
        }
    }
}

extension LookupZonesEndpoint {
    private struct Item {
        let spelling: ZoneReader.Spelling
        let zone: Result<ZoneID, Fault>

        var id: ZoneID? { if case .success(let id) = zone { id } else { nil } }
    }

    private static func item(
        _ element: JSONValue, _ context: RequestContext
    ) throws(Fault) -> Item {
        let spelling = try ZoneReader.spelling(try RequestObject(element, key: "zones"))
        do throws(Fault) {
            return Item(spelling: spelling, zone: .success(try context.zones.zone(spelling)))
        } catch {
            return Item(spelling: spelling, zone: .failure(error))
        }
    }
}

/// `zones/modify` (web-services.md §4.9).
enum ModifyZonesEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let database = try context.database()
        try database.refuse(unless: database.scope == .private)
        var items: [Item] = []
        let (elements, count) = try context.body().countedItems("operations", context.limits)
        guard !context.holdsUp(items: count) else { return .again(on: .short) }
        for element in elements {
            items.append(try item(element, context))
        }
        let operations = items.compactMap {
            if case .success(let made) = $0.decoded { made } else { nil }
        }
        let decoded = items
        context.charge(records: operations.count)
        let zones = try ModifyZones(operations, in: database, key: context.store.tokenKey)
        let exchange = context.exchange
        zones.run { result in
            completion(
                result.map { outcomes in
                    { loop in
                        // Each zone's token is made for it.
                        guard loop == nil || decoded.count <= RequestContext.loopItemsMax else {
                            return nil
                        }
                        return encode(decoded, outcomes, by: zones, for: exchange)
                    }
                })
        }
        return .handedOn
    }

    private struct Item: Sendable {
        let spelling: ZoneReader.Spelling
        let decoded: Result<ModifyZones.Operation, Fault>
    }

    private static func item(
        _ element: JSONValue, _ context: RequestContext
    ) throws(Fault) -> Item {
        let operation = try RequestObject(element, key: "operations")
        let kind = try operation.requiredWord("operationType", ModifyZones.Operation.Kind.self)
        let zone = try operation.requiredObject("zone")
        guard let id = zone["zoneID"] else { throw RequestObject.missing("zoneID") }
        let object = try RequestObject(id, key: "zoneID")
        guard object["zoneName"] != nil else { throw RequestObject.missing("zoneName") }
        let spelling = try ZoneReader.spelling(object)
        if kind == .create, ZoneName(spelling.name) == nil {
            return Item(
                spelling: spelling,
                decoded: .failure(
                    .badRequest(
                        "zoneName: expected 1 to 255 printable ASCII characters that do not start "
                            + "with _")))
        }
        do throws(Fault) {
            let zone = try context.zones.zone(spelling)
            return Item(
                spelling: spelling,
                decoded: .success(ModifyZones.Operation(kind: kind, zone: zone)))
        } catch {
            return Item(spelling: spelling, decoded: .failure(error))
        }
    }

    private static func encode(
        _ items: [Item], _ outcomes: [ModifyZones.Outcome], by zones: ModifyZones,
        for exchange: Exchange
    ) -> [UInt8] {
        var work = RequestWork(items: items.count)
        for case .success(let operation) in items.map(\.decoded) {
            work.note(ZoneProgress(operation.zone))
        }
        var writer = JSONWriter(reserving: 1_024)
        var outcomes = outcomes[...]
        writer.raw("{\"zones\":[")
        for (index, item) in items.enumerated() {
            if index > 0 { writer.raw(",") }
            let outcome = item.decoded.flatMap { _ in
                outcomes.popFirst() ?? .failure(Fault(.internalError, "internal error"))
            }
            switch outcome {
            case .success(let change): zones.append(change, to: &writer)
            case .failure(let fault):
                work.note(fault)
                FaultResponse.append(zone: item.spelling, fault, to: &writer)
            }
        }
        exchange.keep(work)
        writer.raw("]}")
        return writer.bytes
    }
}

extension ListZonesEndpoint {
    /// What the three endpoints answer.
    static let answers = ObjectShape(
        "Zones", [.required("zones", .list(.object(AnswerShapes.zone)))])
}

extension LookupZonesEndpoint {
    static let takes = ObjectShape(
        "LookupZonesRequest", [.items("zones", .object(ZoneReader.shape))])
}

extension ModifyZonesEndpoint {
    static let takes = ObjectShape(
        "ModifyZonesRequest",
        [
            .items(
                "operations",
                .object(
                    ObjectShape(
                        "ZoneOperation",
                        [
                            .required("operationType", .words(ModifyZones.Operation.Kind.self)),
                            .required(
                                "zone",
                                .object(
                                    ObjectShape(
                                        "ZoneToModify",
                                        [.required("zoneID", .object(ZoneReader.shape))]))),
                        ])))
        ])
}
