import CloudModel
import Storage

/// Which records a deletion takes along (rulings.md 18).
///
/// What it leaves of other people's records is deleted later (rulings.md 45).
struct CascadeRule {
    let context: BatchContext
    let view: BatchView

    /// What the deletion of a living record does.
    func deletion(of key: RecordKey, _ previous: CurrentRecord) throws -> DecidedStep {
        let shares = ShareRule(context)
        if context.database.scope == .shared, previous.flags.contains(.share) {
            return DecidedStep(step: try shares.leaving(previous).map { .leave($0) } ?? .nothing)
        }
        var others = try cascade(from: key)
        var charge = StepCharge(cascade: others.count)
        let ending = try shares.ending(with: [key] + others, view)
        guard !ending.isEmpty else { return DecidedStep(step: .delete(others), charge: charge) }
        var gone = Set(others)
        gone.insert(key)
        for share in ending {
            let along = try cascade(from: share)
            charge.cascade = max(charge.cascade, along.count)
            let more = along.filter { !gone.contains($0) }
            others += [share] + more
            gone.formUnion(more)
        }
        return DecidedStep(step: .delete(others), charge: charge)
    }

    /// The records that a deletion takes along, in the order in which the search reaches them.
    private func cascade(from root: RecordKey) throws -> [RecordKey] {
        let most = context.limits.cascadeRecordsMax
        let participants = ParticipantRule(context)
        let tree = PlannedTree(context, view)
        var reached: Set<RecordKey> = [root]
        var victims: [RecordKey] = []
        var next = [root]
        while let target = next.popLast() {
            try HoldRule(context: context, view: view, target: target).visit(LinkKind.going) {
                source, kind in
                guard try kind == .deleteSelf || tree.holdsOrLacksBoth(source, target),
                    reached.insert(source).inserted, try participants.goesAlong(source)
                else { return true }
                victims.append(source)
                next.append(source)
                guard victims.count <= most else { throw Self.tooMany(most) }
                return true
            }
        }
        return victims
    }

    static func tooMany(_ most: Int) -> Fault {
        .limitExceeded(
            "the deletions of a request take at most \(most) records along "
                + "(limits.cascadeRecordsMax)")
    }
}
