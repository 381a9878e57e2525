import Seeding

extension SharingRun {
    /// What a participant does who knows what they may: they add, change, move and delete below what they
    /// may write, and let records go with others.
    ///
    /// - Parameter mine: what they see.
    /// - Returns: nothing, where they may write nothing, and in runs as they were before this.
    func work(_ user: Int, _ place: Place, _ mine: [String]) -> [SharingOperation] {
        guard options.hasTies, random.happens(60) else { return [] }
        let writable = mine.filter { model.permission(of: user, for: $0, in: place) == .readWrite }
        guard let parent = random.any(of: writable) else { return [] }
        var operations: [SharingOperation] = []
        for _ in 0..<random.one(of: [1, 1, 2, 3]) {
            let made = workOperation(place, writable, below: parent)
            if !operations.contains(where: { $0.name == made.name }) { operations.append(made) }
        }
        return operations
    }

    private func workOperation(
        _ place: Place, _ writable: [String], below parent: String
    ) -> SharingOperation {
        let leaves = writable.filter {
            model.children(of: $0, in: place).isEmpty && model.share(ofRoot: $0, in: place) == nil
        }
        let absent = pool(place).filter { model.record($0, in: place) == nil }
        let kind = random.below(10)
        if kind < 2, let target = random.any(of: tied(place).filter(leaves.contains)) {
            return SharingOperation("forceDelete", target)
        }
        if kind < 3, let leaf = random.any(of: leaves) {
            return SharingOperation("forceDelete", leaf)
        }
        if kind < 7, let name = random.any(of: absent) {
            var operation = SharingOperation("create", name)
            operation.fields["v"] = newValue()
            operation.parent = .set(parent)
            if random.happens(50) { tie(&operation, place) }
            return operation
        }
        var operation = SharingOperation(
            random.one(of: ["update", "forceUpdate"]), random.one(of: writable))
        tag(&operation, place)
        operation.fields["w"] = newValue()
        let isRoot = model.share(ofRoot: operation.name, in: place) != nil
        if !isRoot, random.happens(30) { operation.parent = .set(random.one(of: writable)) }
        if random.happens(30) { tie(&operation, place) }
        return operation
    }

    /// Deletes a record with which others go, where there is one.
    func loosen(_ place: Place) -> SharingOperation? {
        guard options.hasTies, random.happens(40) else { return nil }
        return random.any(of: tied(place)).map { SharingOperation("forceDelete", $0) }
    }

    /// Records without others below them with which others go.
    private func tied(_ place: Place) -> [String] {
        notes(place).compactMap { model.record($0, in: place)?.goesWith }
            .filter {
                model.record($0, in: place) != nil && model.children(of: $0, in: place).isEmpty
            }
    }
}
