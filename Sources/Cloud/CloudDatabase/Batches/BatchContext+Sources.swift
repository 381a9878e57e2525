import CloudModel
import Storage

// Which stored records refer to those of the batch.
extension BatchContext {
    /// Visits the stored records that refer to a target, until the closure returns false.
    func visitSources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>,
        _ visit: (RecordKey, LinkKind) throws -> Bool
    ) throws {
        let runKey = SourceRun.Key(target: target, kinds: kinds)
        var run = try sourceRuns.run(runKey, stored) { deletedNames(in: target.zone) }
        defer { sourceRuns[runKey] = run }
        var next = 0
        while true {
            while next < run.sources.count {
                try takeStep()
                let (source, kind) = run.sources[next]
                guard try visit(source, kind) else { return }
                next += 1
            }
            let known = run.sources.count
            guard try run.grow(runKey, stored, upTo: sourcesLeft) else { return }
            sourcesLeft -= run.sources.count - known
            guard sourcesLeft >= 0 else { throw tooManySources }
        }
    }

    /// The targets whose sources were looked at.
    var targets: Set<RecordKey> { sourceRuns.targets.union(lookedAtBelow.parents) }

    /// The sources that were looked at.
    var sources: Set<RecordKey> { sourceRuns.sources.union(lookedAtBelow.records) }

    /// The stored children of records of the zone; nil where they are more than `most`, or than the batch may still read.
    ///
    /// The decision rests on all of them, and on there being no others.
    func children(of parents: [RecordName], most: Int) throws -> [LinkSource]? {
        func read(_ parents: [RecordName], _ limit: Int) throws -> [[LinkSource]] {
            try stored.sources(
                of: parents, in: zone.number, kinds: .parent ... .parent,
                after: RecordNumber(.min), limit: limit)
        }
        let most = min(most, sourcesLeft)
        var found: [LinkSource] = []
        for start in stride(from: 0, to: parents.count, by: SourceRuns.parentsMax) {
            try checkTime()
            let asked = Array(parents[start...].prefix(SourceRuns.parentsMax))
            let limit = asked.count == 1 ? most + 1 : SourceRun.aheadMax
            let pages = try read(asked, limit)
            guard pages.reduce(found.count, { $0 + $1.count }) <= most else { return nil }
            for (parent, page) in zip(asked, pages) {
                let isWhole = page.count < limit || asked.count == 1
                found += isWhole ? page : try read([parent], most + 1)[0]
                guard found.count <= most else { return nil }
            }
        }
        sourcesLeft -= found.count
        lookedAtBelow.parents.formUnion(parents.map(key))
        lookedAtBelow.records.formUnion(found.map { key($0.name) })
        return found
    }

    /// The names of a zone's records that operations delete.
    private func deletedNames(in zone: ZoneNumber) -> [RecordName] {
        guard zone == self.zone.number else { return [] }
        return operations.indices.compactMap { index in
            operation(index).flatMap { $0.kind.deletes ? $0.name : nil }
        }
    }

    private var tooManySources: RefusedBatch {
        RefusedBatch(
            fault: .limitExceeded(
                "operations: more than \(limits.sourcesReadMax) references lead to the records that "
                    + "they concern; send fewer at once"))
    }

    /// How many stored records refer to a target, counted up to a limit.
    func countSources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>, upTo limit: Int
    ) throws -> Int {
        var count = 0
        try visitSources(of: target, kinds: kinds) { _, _ in
            count += 1
            return count < limit
        }
        return count
    }
}

/// The records of trees that a decision rests on, as it looked for shares below others.
struct LookedAtBelow {
    /// Those whose children were looked at.
    var parents: Set<RecordKey> = []
    /// Those whose parents, or shares, were looked at.
    var records: Set<RecordKey> = []
}
