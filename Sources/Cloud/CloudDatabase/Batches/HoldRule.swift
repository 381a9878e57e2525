import CloudModel
import Storage

/// Which references act on the record that they lead to (rulings.md 45).
///
/// In the public database anybody may refer to anybody's record. There a reference holds its target, and
/// its record goes along with it, only when the reference's creator may write the target: judged when the
/// target is deleted. Elsewhere every reference acts.
struct HoldRule {
    private let context: BatchContext
    private let view: BatchView
    private let target: RecordKey

    /// - Parameter target: as it stands before the batch.
    init(_ context: BatchContext, _ view: BatchView, target: RecordKey) {
        self.context = context
        self.view = view
        self.target = target
    }

    private var isPublic: Bool { context.database.scope == .public }

    /// Whether a reference of a record of the caller's batch acts on the target.
    func acts(from source: RecordKey) throws -> Bool {
        guard isPublic else { return true }
        return try context.mayWrite(creator(of: source), target)
    }

    /// Visits the records whose references act on the target until the closure answers false.
    func visit(
        _ kinds: ClosedRange<LinkKind>, _ visit: (RecordKey, LinkKind) throws -> Bool
    ) throws {
        guard isPublic else {
            return try ReferringRecords(context, view, of: target, kinds: kinds).visit(visit)
        }
        var goesOn = true
        for kind in LinkKind.allCases where goesOn && kinds.contains(kind) {
            // Each costs a look at the record that it is in; what comes after so many acts no more.
            var left = context.limits.holdersJudgedMax
            try ReferringRecords(context, view, of: target, kinds: kind...kind).visit { source, _ in
                left -= 1
                if try acts(from: source) { goesOn = try visit(source, kind) }
                return goesOn && left > 0
            }
        }
    }

    /// Whether a record needs the target to be there.
    func isHeld() throws -> Bool {
        var isHeld = false
        try visit(LinkKind.needing) { _, _ in
            isHeld = true
            return false
        }
        return isHeld
    }

    /// Whether so many records go with the target, without one that is one of them or is to be.
    func reaches(_ most: Int, _ kind: LinkKind, without record: RecordKey) throws -> Bool {
        // Nearly always it can be told without a look at each, whatever the batch does.
        let known = try context.countSources(of: target, kinds: kind...kind, upTo: most)
        guard known + context.operations.count > most, try acts(from: record) else { return false }
        var count = 0
        var isOne = false
        try visit(kind...kind) { source, _ in
            isOne = source == record
            count += 1
            return !isOne && count <= most
        }
        return !isOne && count >= most
    }

    /// Who made the record of a source, or makes it with this batch.
    private func creator(of source: RecordKey) throws -> String? {
        guard try context.former(source).isAlive else {
            return context.database.caller.userRecordName?.text
        }
        return try context.creator(of: source)
    }
}

extension BatchContext {
    /// Whether a user may write a public record, by the grants of its type and their roles.
    ///
    /// What is not there, the caller makes with this batch.
    func mayWrite(_ user: String?, _ target: RecordKey) throws -> Bool {
        guard let user = user.flatMap({ UserRecordName($0) }) else { return false }
        let former = try former(target)
        guard former.isAlive else { return user == database.caller.userRecordName }
        return try access(of: user).allows(.write, ofType: former.type) {
            try creator(of: target)
        }
    }
}
