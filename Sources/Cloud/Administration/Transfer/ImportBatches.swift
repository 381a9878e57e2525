import Background
import CloudDatabase
import CloudModel
import Dispatch
import JSON
import RecordDecoding
import Storage

/// Saves records of an import in batches of what a request may have, some of them at a time.
///
/// Between them others' writes take their turns.
final class ImportBatches {
    /// Hears what became of a line's record.
    typealias Ended = (ImportLine, RecordOutcome) throws -> Void

    /// How many batches wait for the disk at once.
    private static let waitingMax = 16
    /// How often a batch is tried again that the store has no room for now, and how long it waits before.
    private static let attemptsMax = 30
    private static let backoff = Backoff(first: 50, longest: 1_000)

    private let kind: RecordOperation.Kind
    private let assets: ImportAssets?
    private let limits: ServiceLimits
    private let makeName: () -> RecordName

    private var target: ImportTarget?
    private var lines: [ImportLine] = []
    private var operations: [DecodedOperation] = []
    private var names: Set<String> = []
    private var waiting: [Begun] = []

    private struct Begun {
        let target: ImportTarget
        let lines: [ImportLine]
        let operations: [DecodedOperation]
        let outcomes: () throws -> [RecordOutcome]
    }

    /// - Parameter assets: brings the files of records; nil to leave them out.
    init(
        mode: SaveRecords.Mode, assets: ImportAssets?, limits: ServiceLimits,
        makeName: @escaping () -> RecordName
    ) {
        kind = mode == .create ? .create : .forceReplace
        self.assets = assets
        self.limits = limits
        self.makeName = makeName
    }

    var assetCount: Int { assets?.count ?? 0 }

    /// Adds a record; one that cannot be read, or whose files are missing, has ended at once.
    func add(
        _ record: ImportedRecord, _ line: ImportLine, to target: ImportTarget, ended: Ended
    ) throws {
        let operation: DecodedOperation
        do {
            operation = try decode(record, for: target)
        } catch let fault as Fault {
            return try ended(line, .failed(name: record.name ?? "", fault))
        }
        if case .fault(let name, let fault) = operation {
            return try ended(line, .failed(name: name, fault))
        }
        let name = operation.recordName
        if self.target !== target || operations.count >= limits.operationsPerRequestMax
            || names.contains(name)
        {
            try begin(ended)
        }
        self.target = target
        names.insert(name)
        lines.append(line)
        operations.append(operation)
    }

    /// Waits until all that was added has ended.
    func drain(ended: Ended) throws {
        try begin(ended)
        while !waiting.isEmpty { try end(waiting.removeFirst(), ended) }
    }

    private func decode(
        _ record: ImportedRecord, for target: ImportTarget
    ) throws -> DecodedOperation {
        let json = try ImportAssets.mayBeIn(record) ? withAssets(record, target) : record.json
        // The server itself makes the records of users.
        let isOfUser = record.json["recordType"]?.stringEquals("Users") == true
        let zones = ZoneReader(
            caller: target.opened.database.caller, scope: target.opened.database.scope)
        return try OperationDecoder(
            zones: zones, rendering: .whole, limits: limits, makeName: makeName
        ).decode(
            RequestObject(json, key: "record"),
            as: isOfUser ? .forceUpdate : record.name == nil ? .create : kind)
    }

    private func withAssets(_ record: ImportedRecord, _ target: ImportTarget) throws -> JSONValue {
        guard let assets else { return try ImportAssets.without(record) }
        return try assets.bring(record, into: target.opened)
    }

    // MARK: - Batches

    private func begin(_ ended: Ended) throws {
        guard let target, !operations.isEmpty else { return }
        let (lines, operations) = (lines, operations)
        (self.lines, self.operations) = ([], [])
        names.removeAll(keepingCapacity: true)
        if waiting.count >= Self.waitingMax { try end(waiting.removeFirst(), ended) }
        do {
            waiting.append(
                Begun(
                    target: target, lines: lines, operations: operations,
                    outcomes: try target.writer.begin(operations)))
        } catch let fault as Fault {
            try endOneByOne(target, lines, operations, fault, ended)
        }
    }

    private func end(_ begun: Begun, _ ended: Ended) throws {
        let outcomes: [RecordOutcome]
        do {
            outcomes = try wait(for: begun)
        } catch let fault as Fault {
            return try endOneByOne(begun.target, begun.lines, begun.operations, fault, ended)
        }
        for (index, outcome) in outcomes.enumerated() {
            var outcome = outcome
            if case .failed(_, let fault) = outcome, fault.code == .tryAgainLater {
                let one = [begun.operations[index]]
                outcome = try again(begun.target, one)?.first ?? outcome
            }
            try ended(begun.lines[index], outcome)
        }
    }

    private func wait(for begun: Begun) throws -> [RecordOutcome] {
        do { return try begun.outcomes() } catch {
            guard Self.mayPass(error), let outcomes = try again(begun.target, begun.operations)
            else { throw error }
            return outcomes
        }
    }

    /// Tries again what the store had no room for, after a pause each time; nil when it never has.
    private func again(
        _ target: ImportTarget, _ operations: [DecodedOperation]
    ) throws -> [RecordOutcome]? {
        for attempt in 1...Self.attemptsMax {
            let pause = DispatchSemaphore(value: 0)
            let milliseconds = Int(Self.backoff.milliseconds(after: attempt))
            _ = pause.wait(timeout: .now() + .milliseconds(milliseconds))
            do {
                let outcomes = try target.writer.begin(operations)()
                let isWhole = outcomes.allSatisfy {
                    if case .failed(_, let fault) = $0 {
                        fault.code != .tryAgainLater
                    } else {
                        true
                    }
                }
                if isWhole { return outcomes }
            } catch {
                guard Self.mayPass(error) else { throw error }
            }
        }
        return nil
    }

    /// Whether what was refused may be taken a little later.
    private static func mayPass(_ error: any Error) -> Bool {
        if let fault = error as? Fault { return fault.code == .tryAgainLater }
        return (error as? StorageFailure)?.refusalOfRemainder != nil
    }

    /// Finds out which records are at fault where a batch was refused as a whole.
    private func endOneByOne(
        _ target: ImportTarget, _ lines: [ImportLine], _ operations: [DecodedOperation],
        _ fault: Fault, _ ended: Ended
    ) throws {
        guard operations.count > 1 else {
            for (line, operation) in zip(lines, operations) {
                try ended(line, .failed(name: operation.recordName, fault))
            }
            return
        }
        for (line, operation) in zip(lines, operations) {
            do {
                for outcome in try target.writer.begin([operation])() { try ended(line, outcome) }
            } catch let fault as Fault {
                try ended(line, .failed(name: operation.recordName, fault))
            }
        }
    }
}
