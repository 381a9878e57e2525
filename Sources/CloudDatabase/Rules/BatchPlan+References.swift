import CloudModel
import Storage

// References: what a save links to, what a deletion takes along, and what must still be there after
// all operations (rulings.md 18).
extension BatchPlan {
    /// The links of a save, from its references and its parent.
    func links(
        _ references: [FieldReference], parent: RecordName?, of name: RecordName,
        _ former: FormerRecord?
    ) throws -> [Link] {
        guard !references.isEmpty || parent != nil else { return [] }
        var links: [Link] = []
        var seen: Set<Link> = []
        if let parent {
            guard parent != name else {
                throw Fault.badRequest("parent: a record cannot be its own parent")
            }
            guard !parent.isReserved else { throw Self.missing(parent) }
            links.append(Link(targetZone: zone.number, target: parent, kind: .parent))
        }
        for reference in references where reference.action != .none {
            var kind: LinkKind = reference.action == .deleteSelf ? .deleteSelf : .validate
            // A user's record goes with the account: nothing can rely on it.
            guard kind != .validate || !reference.name.isReserved else {
                throw Self.missing(reference.name)
            }
            guard let number = try number(of: reference.zone),
                try mayReach(reference.name, in: number, kind, from: former)
            else {
                guard kind == .validate else { continue }
                throw Self.missing(reference.name)
            }
            if try kind == .deleteSelf && actsInTree(reference.name, in: number, from: former) {
                kind = .deleteSelfInTree
            }
            let link = Link(targetZone: number, target: reference.name, kind: kind)
            // A list may name one target thousands of times: it acts once.
            if seen.insert(link).inserted { links.append(link) }
        }
        try checkSourceCounts(links, of: name, former)
        return links
    }

    private func number(of id: ZoneID?) throws -> ZoneNumber? {
        guard let id, id.name != zone.name else { return zone.number }
        return try transaction.zone(named: id.name, of: zone.owner)?.number
    }

    /// Refuses the reference that makes a target too popular to be deleted in one go.
    private func checkSourceCounts(
        _ links: [Link], of name: RecordName, _ former: FormerRecord?
    ) throws {
        let most = database.limits.deleteSelfSourcesMax
        for link in links where LinkKind.going.contains(link.kind) {
            let target = RecordKey(zone: link.targetZone, name: link.target)
            // Participants' are counted apart, so that the number tells them nothing of the owner's.
            let sources = try sources(of: target, kinds: link.kind...link.kind, limit: most + 1)
            guard sources.count < most || sources[key(name)] != nil else {
                throw Fault.limitExceeded(
                    "more than \(most) DELETE_SELF references to record '\(link.target.text)' "
                        + "(limits.deleteSelfSourcesMax)")
            }
        }
    }

    /// The records that will refer to a target, as the steps decided so far leave them, and how.
    private func sources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>, limit: Int
    ) throws -> [RecordKey: LinkKind] {
        var found: [RecordKey: LinkKind] = [:]
        // Those that this batch changes do not count as stored, so as many more must be read.
        let stored = try transaction.sources(
            of: target.name, in: target.zone, kinds: kinds, limit: limit + states.count)
        for source in stored {
            let key = RecordKey(zone: source.zone, name: source.name)
            if states[key] == nil { found[key] = source.kind }
        }
        for key in sourcesPlanned[target] ?? [] {
            guard case .saved(let links) = states[key] else { continue }
            let link = links.first {
                $0.target == target.name && $0.targetZone == target.zone
                    && kinds.contains($0.kind)
            }
            if let link { found[key] = link.kind }
        }
        return found
    }

    /// The records that a deletion takes along, in the order in which they are reached.
    func cascade(from root: RecordKey) throws -> [RecordKey] {
        let most = database.limits.cascadeRecordsMax
        var reached: Set<RecordKey> = [root]
        var victims: [RecordKey] = []
        var next = [root]
        while let target = next.popLast() {
            for (source, kind) in try sources(of: target, kinds: LinkKind.going, limit: most + 1)
            where try (kind == .deleteSelf || inOneTree(source, target))
                && reached.insert(source).inserted && goesAlong(source)
            {
                victims.append(source)
                next.append(source)
                guard cascadedCount + victims.count <= most else {
                    throw Fault.limitExceeded(
                        "the deletions of a request take at most \(most) records along "
                            + "(limits.cascadeRecordsMax)")
                }
            }
        }
        return victims
    }

    /// Which operations must fail because of what is there, or is not, after all of them.
    func brokenReferences() throws -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        let failed = failedKeys()
        for (index, step) in steps.enumerated() {
            switch step {
            case .save(let save):
                // A record that the batch takes away again needs nothing.
                guard case .operation(let operation) = operations[index],
                    try isAliveAfterAll(key(operation.name))
                else { continue }
                for link in save.links where try !staysUnseen(link, key(operation.name)) {
                    let target = RecordKey(zone: link.targetZone, name: link.target)
                    let isNeeded = !LinkKind.going.contains(link.kind) || failed.contains(target)
                    let isHidden =
                        try link.kind == .validate
                        && !isInSight(target, of: former(key(operation.name)))
                    if isNeeded, try isHidden || !isAliveAfterAll(target) {
                        found[index] = Self.missing(link.target)
                    }
                }
            case .delete(let others):
                guard case .operation(let operation) = operations[index] else { continue }
                for gone in [key(operation.name)] + others where try isNeededAfterAll(gone) {
                    found[index] = Fault(
                        .validatingReferenceError,
                        "record '\(gone.name.text)' is still the parent or the VALIDATE target of "
                            + "another record")
                }
            case .fault, .nothing, .leave: break
            }
        }
        if !isAtomic, !found.isEmpty { try spread(&found) }
        return found
    }

    /// Whether a link leads to what the caller cannot see, as it did before: he is told nothing by it.
    private func staysUnseen(_ link: Link, _ source: RecordKey) throws -> Bool {
        guard unseen.contains(RecordKey(zone: link.targetZone, name: link.target)),
            let record = try former(source).head?.record
        else { return false }
        return try transaction.hasLink(link, from: record)
    }

    /// Adds the saves of new records that refer to what will not be made: however long a chain of
    /// them is, the batch is decided anew once, not once for each.
    private func spread(_ found: inout [Int: Fault]) throws {
        var missing: Set<RecordKey> = []
        for case .operation(let operation) in found.keys.map({ operations[$0] }) {
            missing.insert(key(operation.name))
        }
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for (index, step) in steps.enumerated() where found[index] == nil {
                guard case .save(let save) = step,
                    case .operation(let operation) = operations[index],
                    try !former(key(operation.name)).isAlive,
                    try isAliveAfterAll(key(operation.name))
                else { continue }
                for link in save.links {
                    let target = RecordKey(zone: link.targetZone, name: link.target)
                    guard missing.contains(target), try !former(target).isAlive else { continue }
                    found[index] = Self.missing(link.target)
                    missing.insert(key(operation.name))
                    hasGrown = true
                    break
                }
            }
        }
    }

    /// The names whose own operation in this batch fails.
    private func failedKeys() -> Set<RecordKey> {
        var failed: Set<RecordKey> = []
        for (index, step) in steps.enumerated() {
            guard case .fault = step else { continue }
            switch operations[index] {
            case .operation(let operation): failed.insert(key(operation.name))
            case .fault(let name, _): if let name = RecordName(name) { failed.insert(key(name)) }
            }
        }
        return failed
    }

    func isAliveAfterAll(_ key: RecordKey) throws -> Bool {
        switch states[key] {
        case .saved: true
        case .deleted: false
        case nil: try former(key).isAlive
        }
    }

    private func isNeededAfterAll(_ key: RecordKey) throws -> Bool {
        guard try !isAliveAfterAll(key) else { return false }
        return try !sources(of: key, kinds: LinkKind.needing, limit: 1).isEmpty
    }

    static func missing(_ name: RecordName) -> Fault {
        Fault(
            .validatingReferenceError,
            "the record that a VALIDATE reference or parent names does not exist: '\(name.text)'")
    }
}

extension LinkKind {
    /// Of the references that let their source go with the target.
    fileprivate static let going = deleteSelfInTree...deleteSelf
    /// Of those that need the target to be there.
    fileprivate static let needing = validate...parent
}
