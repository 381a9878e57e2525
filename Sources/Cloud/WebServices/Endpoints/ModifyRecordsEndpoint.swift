import CloudDatabase
import CloudModel
import Dispatch
import JSON
import RecordDecoding

/// `records/modify` (web-services.md §4.2).
enum ModifyRecordsEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let database = try context.database()
        // There the schema may be asked first, and who users are.
        guard context.mayWait || database.scope != .public else { return .again(on: .short) }
        let body = try context.body()
        let (elements, count) = try body.countedItems("operations", context.limits)
        guard !context.holdsUp(items: count) else { return .again(on: .short) }
        let zone = try context.zones.zone(of: body)
        let rendering = try body.rendering()
        let decoder = OperationDecoder(
            zones: context.zones, rendering: rendering, limits: context.limits,
            makeName: { RecordNames.random(context.random) })
        let operations = try decoder.decode(elements)
        let renderings = operations.map {
            if case .operation(let operation) = $0 { operation.rendering } else { rendering }
        }
        context.charge(records: operations.count)
        let exchange = context.exchange
        let names = operations.count <= RequestWork.savedMax ? operations.map(\.recordName) : []
        try ModifyRecords(
            operations, in: zone, of: database, atomic: try body.bool("atomic"),
            device: context.device, write: context.namedWrite,
            clientToken: try body.clientToken(context.limits),
            users: try context.users(named: operations.lazy.map(\.recordName), in: zone)
        ).run(beside: context.longWork) { result in
            completion(
                result.map { outcomes in
                    { loop in
                        let size = size(of: outcomes)
                        guard loop == nil || size <= RequestContext.loopBytesMax else { return nil }
                        let links = showsAssets(outcomes) ? database.assetLinks(in: zone) : nil
                        exchange.keep(RequestWork(outcomes, of: names, in: zone))
                        return try encode(outcomes, renderings, links, reserving: size)
                    }
                })
        }
        return .handedOn
    }

    /// About what the answer takes.
    private static func size(of outcomes: [RecordOutcome]) -> Int {
        outcomes.reduce(32) { sum, outcome in
            switch outcome {
            case .saved(let body, _): sum + body.count + 1
            case .deleted: sum + 160
            case .failed(_, let fault): sum + 160 + (fault.serverRecord?.count ?? 0)
            }
        }
    }

    private static func showsAssets(_ outcomes: [RecordOutcome]) -> Bool {
        outcomes.contains {
            if case .saved(_, let flags) = $0 { flags.contains(.hasAssets) } else { false }
        }
    }

    private static func encode(
        _ outcomes: [RecordOutcome], _ renderings: [RecordRendering], _ links: AssetLinks?,
        reserving size: Int
    ) throws -> [UInt8] {
        var writer = JSONWriter(reserving: size)
        writer.raw("{\"records\":[")
        for (index, outcome) in outcomes.enumerated() {
            if index > 0 { writer.raw(",") }
            switch outcome {
            case .saved(let body, let flags):
                try body.withUnsafeBytes {
                    try renderings[index].append(
                        $0, flags: flags, assets: links, to: &writer)
                }
            case .deleted(let name):
                writer.raw("{\"recordName\":")
                writer.string(name.text)
                writer.raw(",\"deleted\":true}")
            case .failed(let name, let fault):
                FaultResponse.append(record: name, fault, to: &writer)
            }
        }
        writer.raw("]}")
        return writer.bytes
    }
}

extension RequestWork {
    /// - Parameter names: of the records; empty where they are too many to be told apart.
    fileprivate init(_ outcomes: [RecordOutcome], of names: [String], in zone: ZoneID) {
        self.init(items: outcomes.count, in: zone)
        for (index, outcome) in outcomes.enumerated() {
            if case .failed(let name, let fault) = outcome {
                note(fault, record: name)
            } else {
                records += 1
                if index < names.count { saved.append(ItemFailures.hash(names[index])) }
            }
        }
    }
}

extension ModifyRecordsEndpoint {
    static let takes = ObjectShape(
        "ModifyRecordsRequest",
        [
            .items("operations", .object(OperationDecoder.shape)), ZoneReader.key,
            .optional("atomic", .flag), .clientToken,
        ] + ObjectKey.rendering)
}
