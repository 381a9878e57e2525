import CloudDatabase
import CloudModel
import Dispatch
import JSON
import RecordDecoding
import Storage

/// Saves records that somebody wrote down as `records/lookup` answers them: one object, an array of them, or one a line.
///
/// A record with a change tag is saved over that version alone, one without over whatever there is. Refusals:
/// `RecordsRefusal`; as `OperatedDatabase.opened`.
package struct SaveRecords: OperatedAction {
    /// What becomes of a record that exists.
    package enum Mode: String, Sendable, CaseIterable {
        /// It gets the fields that are given, and keeps its others.
        case update
        /// It gets the fields that are given, and no others.
        case replace
        /// It is an error.
        case create
    }

    package let target: OperatedDatabase
    private let text: [UInt8]
    private let mode: Mode

    package init(_ text: [UInt8], in target: OperatedDatabase, mode: Mode) {
        self.target = target
        self.text = text
        self.mode = mode
    }

    package var name: String { "record save" }

    package func run(in data: any ServerData, by actor: Operator) throws -> RecordsPage {
        let opened = try target.opened(in: data, saves: true)
        return try RecordsRefusal.of {
            let writer = RecordBatchWriter(opened, data)
            let operations = try writer.decode(try Self.records(text).map { ($0, mode) })
            return try RecordsPage(of: writer.run(operations))
        }
    }

    private static func records(_ text: [UInt8]) throws -> [JSONValue] {
        do {
            let root = try JSONDocument(parsing: text).root
            return root.kind == .array ? Array(root.elements) : [root]
        } catch {
            // One a line.
            let lines = text.split(separator: UInt8(ascii: "\n")).filter { line in
                line.contains { $0 > 0x20 }
            }
            guard lines.count > 1 else { throw RecordsRefusal("no JSON: \(error)") }
            return try lines.enumerated().map { number, line in
                do { return try JSONDocument(parsing: Array(line)).root } catch {
                    throw RecordsRefusal("no JSON in line \(number + 1): \(error)")
                }
            }
        }
    }
}

/// Deletes records, whatever version there is.
///
/// Refusals: `RecordsRefusal`; as `OperatedDatabase.opened`.
package struct DeleteRecords: OperatedAction {
    package let target: OperatedDatabase
    private let names: [String]

    package init(_ names: [String], in target: OperatedDatabase) {
        self.target = target
        self.names = names
    }

    package var name: String { "record delete" }

    package func run(in data: any ServerData, by actor: Operator) throws -> RecordsPage {
        let opened = try target.opened(in: data, saves: true)
        return try RecordsRefusal.of {
            let operations = names.map { text in
                guard let name = RecordName(text) else {
                    return DecodedOperation.fault(name: text, .recordNotFound)
                }
                return .operation(
                    RecordOperation(
                        kind: .forceDelete, name: name, type: nil, changeTag: nil,
                        fields: EncodedFields(), parent: .absent, rendering: .whole))
            }
            return try RecordsPage(
                of: RecordBatchWriter(opened, data).run(operations))
        }
    }
}

/// Carries out an operator's batches by the use case that apps' requests take.
struct RecordBatchWriter {
    private let opened: OperatedDatabase.Opened
    private let data: any ServerData
    private let habits = DecisionHabits()

    init(_ opened: OperatedDatabase.Opened, _ data: any ServerData) {
        self.opened = opened
        self.data = data
    }

    /// Reads records as operations of `records/modify`.
    func decode(
        _ records: [(JSONValue, SaveRecords.Mode)]
    ) throws(Fault) -> [DecodedOperation] {
        var writer = JSONWriter(reserving: 1_024)
        writer.raw("[")
        for (index, (record, mode)) in records.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.raw("{\"operationType\":\"")
            // A record without a name is a new one.
            let kind =
                record["recordName"]?.string == nil
                ? .create : mode.kind(hasTag: record["recordChangeTag"]?.string != nil)
            writer.raw(ascii: kind.rawValue)
            writer.raw("\",\"record\":")
            record.withRawBytes { writer.raw($0) }
            writer.raw("}")
        }
        writer.raw("]")
        let document: JSONDocument
        do { document = try JSONDocument(parsing: writer.bytes) } catch {
            throw .badRequest("no JSON: \(error)")
        }
        return try OperationDecoder(
            zones: ZoneReader(caller: opened.database.caller, scope: opened.database.scope),
            rendering: .whole, limits: opened.database.limits,
            makeName: { RecordNames.random(data.random) }
        ).decode(document.root.elements)
    }

    /// Carries out operations in batches of what a request may have, each on disk when it returns.
    func run(_ operations: [DecodedOperation]) throws -> [RecordOutcome] {
        var outcomes: [RecordOutcome] = []
        let most = opened.database.limits.operationsPerRequestMax
        for start in stride(from: 0, to: operations.count, by: most) {
            let part = Array(operations[start..<min(start + most, operations.count)])
            outcomes += try begin(part)()
        }
        return outcomes
    }

    /// Begins a batch in which each record succeeds or fails by itself.
    ///
    /// - Returns: what waits for its outcomes.
    func begin(
        _ operations: [DecodedOperation], isAtomic: Bool = false
    ) throws -> () throws -> [RecordOutcome] {
        let batch = try ModifyRecords(
            operations, in: opened.zone, of: opened.database,
            atomic: opened.zone.name.isDefault ? nil : isAtomic, device: "operator",
            users: try users(among: operations))
        let pending = Pending<[RecordOutcome]>()
        batch.run(
            beside: LongWork(stop: StopSignal(), habits: habits) {
                DispatchQueue.global().async(execute: $0)
            }
        ) { pending.end($0) }
        return { try pending.wait() }
    }

    /// Those whose own records the operations name: in a private database its owner alone.
    private func users(among operations: [DecodedOperation]) throws -> Set<UserRecordName> {
        guard opened.zone.name.isDefault else { return [] }
        let named = Set(operations.compactMap { UserRecordName($0.recordName) })
        guard opened.database.scope == .public, let container = opened.database.container else {
            return named.filter { $0 == opened.database.caller.userRecordName }
        }
        let bearers = try data.accountUseCases.catalog.bearers(of: named, in: container)
        return named.filter {
            if case .account = bearers[$0] { true } else { false }
        }
    }
}

extension SaveRecords.Mode {
    fileprivate func kind(hasTag: Bool) -> RecordOperation.Kind {
        switch self {
        case .update: hasTag ? .update : .forceUpdate
        case .replace: hasTag ? .replace : .forceReplace
        case .create: .create
        }
    }
}

extension RecordsPage {
    /// What became of a batch.
    init(of outcomes: [RecordOutcome]) throws {
        var failed = 0
        let records = try outcomes.map { outcome in
            var writer = JSONWriter(reserving: 512)
            switch outcome {
            case .saved(let body, let flags):
                try body.withUnsafeBytes {
                    try RecordRendering.whole.append($0, flags: flags, assets: nil, to: &writer)
                }
            case .deleted(let name):
                writer.raw("{\"recordName\":")
                writer.string(name.text)
                writer.raw(",\"deleted\":true}")
            case .failed(let name, let fault):
                failed += 1
                fault.append(record: name, to: &writer)
            }
            return writer.bytes
        }
        self.init(records, failed: failed)
    }
}
