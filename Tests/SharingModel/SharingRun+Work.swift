import Seeding

extension SharingRun {
    /// What a participant does who knows what they may: they add, change, move and delete below what they
    /// may write, and let records go with others.
    ///
    /// - Parameter mine: what they see.
    /// - Returns: nothing, where they may write nothing, and in runs as they were before this.
    func work(_ user: Int, _ ownedZone: OwnedZone, _ mine: [String]) -> [SharingOperation] {
        guard options.hasTies, random.happens(60) else { return [] }
        let writable = mine.filter {
            model.permission(of: user, for: $0, in: ownedZone) == .readWrite
        }
        guard let parent = random.any(of: writable) else { return [] }
        var operations: [SharingOperation] = []
        for _ in 0..<random.one(of: [1, 1, 2, 3]) {
            let made = workOperation(ownedZone, writable, below: parent)
            if !operations.contains(where: { $0.name == made.name }) { operations.append(made) }
        }
        return operations
    }

    private func workOperation(
        _ ownedZone: OwnedZone, _ writable: [String], below parent: String
    ) -> SharingOperation {
        let leaves = writable.filter {
            model.children(of: $0, in: ownedZone).isEmpty
                && model.share(ofRoot: $0, in: ownedZone) == nil
        }
        let absent = pool(ownedZone).filter { model.record($0, in: ownedZone) == nil }
        let kind = random.below(10)
        if kind < 2, let target = random.any(of: tied(ownedZone).filter(leaves.contains)) {
            return SharingOperation("forceDelete", target)
        }
        if kind < 3, let leaf = random.any(of: leaves) {
            return SharingOperation("forceDelete", leaf)
        }
        if kind < 7, let name = random.any(of: absent) {
            var operation = SharingOperation("create", name)
            operation.fields["v"] = newValue()
            operation.parent = .set(parent)
            if random.happens(50) { tie(&operation, ownedZone) }
            return operation
        }
        var operation = SharingOperation(
            random.one(of: ["update", "forceUpdate"]), random.one(of: writable))
        tag(&operation, ownedZone)
        operation.fields["w"] = newValue()
        let isRoot = model.share(ofRoot: operation.name, in: ownedZone) != nil
        if !isRoot, random.happens(30) { operation.parent = .set(random.one(of: writable)) }
        if random.happens(30) { tie(&operation, ownedZone) }
        return operation
    }

    /// Deletes a record with which others go, where there is one.
    func loosen(_ ownedZone: OwnedZone) -> SharingOperation? {
        guard options.hasTies, random.happens(40) else { return nil }
        return random.any(of: tied(ownedZone)).map { SharingOperation("forceDelete", $0) }
    }

    /// Records without others below them with which others go.
    private func tied(_ ownedZone: OwnedZone) -> [String] {
        notes(ownedZone).compactMap { model.record($0, in: ownedZone)?.goesWith }
            .filter {
                model.record($0, in: ownedZone) != nil
                    && model.children(of: $0, in: ownedZone).isEmpty
            }
    }
}
