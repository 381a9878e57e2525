import CloudModel
import JSON
import Storage

/// How many records use a type, or have a value in a field.
package struct SchemaUsage: Sendable, Equatable {
    package private(set) var types: [RecordTypeName: Int] = [:]
    package private(set) var fields: [RecordTypeName: [FieldName: Int]] = [:]
    /// Records that are not what was written: nobody can tell what they have.
    package private(set) var damaged = 0

    /// How many steps pass between two calls of `goesOn`; each step takes a small part of a second.
    private static let stepsBetweenSigns = 32

    package init() {}

    /// How many records a change would take something from.
    package func count(_ change: SchemaChange) -> Int {
        switch change {
        case .typeRemoved(let type): types[type] ?? 0
        case .fieldRemoved(let type, let field, _): fields[type]?[field] ?? 0
        default: 0
        }
    }

    /// Counts the living records of a store that have any of the parts.
    ///
    /// Blocks as long as it takes to read the whole store, in steps that hold nobody up. Never call it on an
    /// event loop. Others may save records meanwhile. Then one may be counted twice; a record that exists
    /// throughout is counted at least once.
    ///
    /// - Parameter goesOn: called now and then while it takes long, outside of any read.
    package init(
        of parts: Schema.Parts, in storage: any Store, goesOn: () throws -> Void = {}
    ) throws {
        guard !parts.isEmpty else { return }
        let survey = Survey(parts, of: try storage.schema)
        var cursor: SurveyCursor? = .start
        var steps = 0
        while let after = cursor {
            cursor = try storage.read { try survey.step(after: after, $0) }
            steps += 1
            if steps % Self.stepsBetweenSigns == 0 { try goesOn() }
        }
        types = survey.usage.types
        fields = survey.usage.fields
        damaged = survey.usage.damaged
    }

    fileprivate mutating func noteDamaged() { damaged += 1 }

    fileprivate mutating func note(_ type: RecordTypeName) { types[type, default: 0] += 1 }

    fileprivate mutating func note(_ type: RecordTypeName, _ field: FieldName) {
        fields[type, default: [:]][field, default: 0] += 1
    }
}

/// One pass through a store, step by step.
private final class Survey {
    /// Rows of one step, and the bytes of the bodies that it looks into.
    private static let stepRowsMax = 5_000
    private static let stepBytesMax = 8_388_608

    private(set) var usage = SchemaUsage()
    private var types: [Int64: RecordTypeName] = [:]
    private var fields: [Int64: (type: RecordTypeName, fields: Set<FieldName>)] = [:]
    private var isAlive: [ZoneNumber: Bool] = [:]

    init(_ parts: Schema.Parts, of schema: Schema) {
        for name in parts.types {
            if let number = schema.types[name]?.number { types[number] = name }
        }
        for (name, wanted) in parts.fields {
            if let number = schema.types[name]?.number { fields[number] = (name, wanted) }
        }
    }

    func step(
        after cursor: SurveyCursor, _ snapshot: any StoreSnapshot
    ) throws -> SurveyCursor? {
        var bytesLeft = Self.stepBytesMax
        do {
            return try snapshot.versions(after: cursor, limit: Self.stepRowsMax) { zone, version in
                try count(version, in: zone, snapshot, bytesLeft: &bytesLeft)
                return bytesLeft > 0
            }
        } catch let damaged as DamagedVersion {
            if try isAlive(damaged.zone, snapshot) { usage.noteDamaged() }
            return SurveyCursor(zone: damaged.zone, position: damaged.position)
        }
    }

    private func count(
        _ version: StoredVersion, in zone: ZoneNumber, _ snapshot: any StoreSnapshot,
        bytesLeft: inout Int
    ) throws {
        guard !version.flags.contains(.tombstone),
            types[version.type] != nil || fields[version.type] != nil,
            try isAlive(zone, snapshot)
        else { return }
        if let type = types[version.type] { usage.note(type) }
        guard let (type, wanted) = fields[version.type] else { return }
        bytesLeft -= version.body.count
        guard let values = try RecordBody.fields(of: version) else { return }
        for field in wanted where values.member(field.text) != nil { usage.note(type, field) }
    }

    private func isAlive(_ number: ZoneNumber, _ snapshot: any StoreSnapshot) throws -> Bool {
        if let known = isAlive[number] { return known }
        let found = try snapshot.zone(number).map { !$0.isDeleted } ?? false
        isAlive[number] = found
        return found
    }
}
