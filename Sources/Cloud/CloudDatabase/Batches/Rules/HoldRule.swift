import CloudModel
import Storage

/// Which references act on the record that they lead to (rulings.md 45).
///
/// In the public database, anybody may refer to anybody's record. There a reference acts only when its
/// creator may write the target; this is judged when the target is deleted. A reference that acts holds its
/// target, or its record is deleted along with the target. In other databases every reference acts.
struct HoldRule {
    let context: BatchContext
    let view: BatchView
    /// The record as it was before the batch.
    let target: RecordKey

    private var isPublic: Bool { context.database.scope == .public }

    /// Whether a reference in a record of the caller's batch acts on the target.
    func acts(from source: RecordKey) throws -> Bool {
        guard isPublic else { return true }
        return try context.mayWrite(creator(of: source), target)
    }

    /// Visits the records whose references act on the target, until the closure returns false.
    func visit(
        _ kinds: ClosedRange<LinkKind>, _ visit: (RecordKey, LinkKind) throws -> Bool
    ) throws {
        guard isPublic else {
            return try ReferringRecords(context: context, view: view, target: target, kinds: kinds)
                .visit(visit)
        }
        var goesOn = true
        for kind in LinkKind.allCases where goesOn && kinds.contains(kind) {
            // To judge a reference costs a look at its record. References after the first so many do not act.
            var left = context.limits.holdersJudgedMax
            try ReferringRecords(context: context, view: view, target: target, kinds: kind...kind)
                .visit { source, _ in
                    left -= 1
                    if try acts(from: source) { goesOn = try visit(source, kind) }
                    return goesOn && left > 0
                }
        }
    }

    /// Whether a record needs the target to exist.
    func isHeld() throws -> Bool {
        var isHeld = false
        try visit(LinkKind.needing) { _, _ in
            isHeld = true
            return false
        }
        return isHeld
    }

    /// Whether `most` records or more go with the target, and the given record is not one of them.
    func reaches(_ most: Int, _ kind: LinkKind, without record: RecordKey) throws -> Bool {
        // Counting nearly always gives the answer without a look at each record, whatever the batch does.
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

    /// Who made the record that refers; or the caller, if this batch makes it.
    private func creator(of source: RecordKey) throws -> String? {
        guard try context.previous(source).isAlive else {
            return context.database.caller.userRecordName?.text
        }
        return try context.creator(of: source)
    }
}

extension BatchContext {
    /// Whether a user may write a public record, by the grants of its type and by their roles.
    ///
    /// If the record does not exist yet, the caller makes it with this batch.
    func mayWrite(_ user: String?, _ target: RecordKey) throws -> Bool {
        guard let user = user.flatMap({ UserRecordName($0) }) else { return false }
        let previous = try previous(target)
        guard previous.isAlive else { return user == database.caller.userRecordName }
        return try access(of: user).allows(.write, ofType: previous.type) {
            try creator(of: target)
        }
    }
}
