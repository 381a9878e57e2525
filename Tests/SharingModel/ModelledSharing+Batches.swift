/// One operation of a batch, for the model and for the wire.
package struct SharingOperation: Sendable {
    package enum Parent: Equatable, Sendable {
        case absent, cleared
        case set(String)
    }

    /// What is said of a share.
    package struct ShareChange: Sendable {
        package struct Entry: Sendable {
            package var id: String?
            package var handle: ModelledSharing.Handle
            package var role: ModelledSharing.Role
            package var permission: ModelledSharing.Permission
        }

        /// The root of a new share, and the tag that is sent for it.
        package var root: String?
        package var rootTag: String?
        package var isRootTagStale = false
        package var publicPermission: ModelledSharing.Permission?
        package var allowsRequests: Bool?
        package var approve: [Int] = []
        package var deny: [Int] = []
        package var block: [Int] = []
        package var unblock: [Int] = []
        /// Nil leaves the participants as they are.
        package var entries: [Entry]?
    }

    package var kind: String
    package var name: String
    package var type = "Note"
    package var fields: [String: String] = [:]
    package var parent = Parent.absent
    package var tag: String?
    package var isTagStale = false
    package var makesGUID = false
    package var share: ShareChange?

    package init(_ kind: String, _ name: String) {
        self.kind = kind
        self.name = name
    }

    package var deletes: Bool { kind == "delete" || kind == "forceDelete" }
    package var replaces: Bool { kind == "replace" || kind == "forceReplace" }
    package var compares: Bool { kind == "update" || kind == "replace" || kind == "delete" }
}

/// How an operation may end: nil is success, anything else a code.
package typealias SharingOutcomes = Set<String?>

package struct SharingBatch: Sendable {
    package var ownedZone: ModelledSharing.OwnedZone
    package var user: Int
    package var isAtomic: Bool
    package var operations: [SharingOperation]

    package var isOwners: Bool { user == ownedZone.owner }
}

extension ModelledSharing {
    private static let denied: SharingOutcomes = ["ACCESS_DENIED"]
    private static let dangling: SharingOutcomes = ["VALIDATING_REFERENCE_ERROR"]

    /// How each operation of a batch may end; nil when the zone is not there for the caller.
    package func outcomes(of batch: SharingBatch) -> [SharingOutcomes]? {
        guard zones[batch.ownedZone] != nil else { return nil }
        if !batch.isOwners, !sharedOwnedZones(of: batch.user).contains(batch.ownedZone) {
            // Who has left may leave again, though nothing is left to see.
            let hasLeftAll = batch.operations.allSatisfy { $0.deletes && hasLeft($0.name, batch) }
            return hasLeftAll ? batch.operations.map { _ in [nil] } : nil
        }
        // What they cannot see is judged as if it were not there.
        let unseen = Set(
            batch.operations.filter {
                isUnseen($0.name, batch) && !($0.deletes && hasLeft($0.name, batch))
            }
            .map(\.name))
        var sight = self
        for name in unseen { sight.forget(name, in: batch.ownedZone) }
        return sight.outcomes(of: batch, unseen)
    }

    /// Makes as if a record were not there, and had never been.
    private mutating func forget(_ name: String, in ownedZone: OwnedZone) {
        zones[ownedZone]?.records[name] = nil
        if let share = share(ofRoot: name, in: ownedZone) { zones[ownedZone]?.records[share] = nil }
        for child in children(of: name, in: ownedZone) {
            zones[ownedZone]?.records[child]?.parent = nil
        }
    }

    private func isUnseen(_ name: String, _ batch: SharingBatch) -> Bool {
        record(name, in: batch.ownedZone) != nil
            && permission(of: batch.user, for: name, in: batch.ownedZone) == nil
    }

    /// Whether a share record is one that the caller has left.
    private func hasLeft(_ name: String, _ batch: SharingBatch) -> Bool {
        record(name, in: batch.ownedZone)?.share?.participants
            .contains { $0.user == batch.user && $0.status == .removed } ?? false
    }

    private func outcomes(of batch: SharingBatch, _ unseen: Set<String>) -> [SharingOutcomes] {
        var failing: [Int: SharingOutcomes] = [:]
        var found = attempt(batch, failing: failing)
        let first = found
        while !batch.isAtomic || !first.contains(where: { !$0.contains(nil) }) {
            var broken = broken(batch, found)
            if broken.isEmpty {
                // All is well with it, but that something is there already.
                for (index, operation) in batch.operations.enumerated()
                where !operation.deletes && unseen.contains(operation.name)
                    && found[index].contains(nil)
                {
                    broken[index] = ["NOT_FOUND"]
                }
            }
            guard broken.keys.contains(where: { failing[$0] == nil }) else { break }
            failing.merge(broken) { $0.union($1) }
            found = attempt(batch, failing: failing)
            if batch.isAtomic { break }
        }
        guard batch.isAtomic, found.contains(where: { !$0.contains(nil) }) else { return found }
        let late = broken(batch, first)
        return found.enumerated().map { index, outcomes in
            if let late = late[index] { return late.union(outcomes).union(["ATOMIC_ERROR"]) }
            // What may end either way may also be what the others failed for.
            return outcomes.contains(nil)
                ? outcomes.subtracting([nil]).union(["ATOMIC_ERROR"]) : outcomes
        }
    }

    /// Applies what succeeded.
    package mutating func apply(_ batch: SharingBatch, succeeded: [Bool]) {
        let before = self
        let previousShares = Set(shares(in: batch.ownedZone).map(\.name))
        // What they could not see before the batch is as it was.
        let isThere = batch.operations.map { !isUnseen($0.name, batch) }
        for ((operation, isDone), isThere) in zip(zip(batch.operations, succeeded), isThere)
        where isDone && isThere {
            perform(operation, batch, before: before)
        }
        // A root says that it is shared, whichever of the two came first.
        for (operation, isDone) in zip(batch.operations, succeeded)
        where isDone && !previousShares.contains(operation.name) {
            guard let root = operation.share?.root else { continue }
            change(root, in: batch.ownedZone) {
                $0.hasGUID = true
                $0.touch()
            }
        }
        touched.insert(batch.ownedZone)
    }

    /// Each operation by itself, after those before it.
    private func attempt(
        _ batch: SharingBatch, failing: [Int: SharingOutcomes]
    ) -> [SharingOutcomes] {
        var model = self
        return batch.operations.enumerated().map { index, operation in
            if let known = failing[index] { return known }
            let outcomes = model.outcomes(of: operation, batch, before: self)
            if outcomes.contains(nil) { model.perform(operation, batch, before: self) }
            return outcomes
        }
    }

    private func outcomes(
        of operation: SharingOperation, _ batch: SharingBatch, before: ModelledSharing
    ) -> SharingOutcomes {
        let ownedZone = batch.ownedZone
        let previous = record(operation.name, in: ownedZone)
        if let previous, previous.share != nil || operation.share != nil {
            return outcomes(of: operation, onShare: previous, batch)
        }
        if operation.share != nil { return outcomes(ofNewShare: operation, batch) }
        // Rights are those that they had before the batch.
        let right = before.permission(of: batch.user, for: operation.name, in: ownedZone)
        guard let previous, let right else {
            if operation.compares { return ["NOT_FOUND"] }
            if operation.deletes { return [nil] }
            if losesParent(operation, over: nil, batch) { return Self.denied }
            // Where it would be is looked at after all operations.
            return operation.parent != .set(operation.name)
                ? [nil] : batch.isOwners ? ["BAD_REQUEST"] : ["BAD_REQUEST", "ACCESS_DENIED"]
        }
        var refusals: SharingOutcomes = []
        if right != .readWrite { refusals.formUnion(Self.denied) }
        if operation.kind == "create" { refusals.insert("CONFLICT") }
        if operation.compares, operation.isTagStale { refusals.insert("CONFLICT") }
        if previous.type != operation.type, !operation.deletes { refusals.insert("BAD_REQUEST") }
        if !operation.deletes, operation.parent == .set(operation.name) {
            refusals.insert("BAD_REQUEST")
            if !batch.isOwners { refusals.formUnion(Self.denied) }
        }
        let isRoot = share(ofRoot: operation.name, in: ownedZone) != nil
        if isRoot, !batch.isOwners, operation.deletes { refusals.formUnion(Self.denied) }
        if !isRoot, losesParent(operation, over: previous, batch) {
            refusals.formUnion(Self.denied)
        }
        if !refusals.isEmpty { return refusals }
        if isRoot, !batch.isOwners, operation.parent != .absent {
            // To them it has none, and may not get one.
            return operation.parent == .cleared ? Self.denied.union([nil]) : Self.denied
        }
        return [nil]
    }

    /// Whether a participant's save would leave a record outside of every tree.
    private func losesParent(
        _ operation: SharingOperation, over previous: Record?, _ batch: SharingBatch
    ) -> Bool {
        guard !batch.isOwners, !operation.deletes,
            record(Self.zoneShare, in: batch.ownedZone) == nil
        else { return false }
        switch operation.parent {
        case .absent: return operation.replaces || previous?.parent == nil
        case .cleared: return true
        case .set: return false
        }
    }

    // MARK: - Shares

    private func outcomes(
        of operation: SharingOperation, onShare previous: Record, _ batch: SharingBatch
    ) -> SharingOutcomes {
        let entry = previous.share.flatMap { participation(of: batch.user, in: $0) }
        let mayChange = batch.isOwners || entry?.role == .administrator
        if operation.deletes {
            if hasLeft(operation.name, batch) { return [nil] }
            let isStale = operation.kind == "delete" && operation.isTagStale
            return isStale ? ["CONFLICT"] : [nil]
        }
        var refusals: SharingOutcomes = []
        if previous.share == nil || operation.share == nil || previous.type != operation.type {
            refusals.formUnion(["BAD_REQUEST"])
        }
        if operation.kind == "create" { refusals.insert("CONFLICT") }
        // It is in no tree itself.
        if case .set = operation.parent { refusals.insert("BAD_REQUEST") }
        // A share is never saved unseen, whatever the operation.
        if operation.isTagStale || operation.tag == nil { refusals.insert("CONFLICT") }
        if !mayChange { refusals.formUnion(Self.denied) }
        if !batch.isOwners, let share = previous.share, let change = operation.share {
            // Administrators change participants and permissions, and make no other administrators.
            let promotes = (change.entries ?? []).contains { entry in
                entry.role == .administrator
                    && match(entry, in: share)?.role != .administrator
            }
            let fields =
                operation.replaces
                ? operation.fields : previous.fields.merging(operation.fields) { $1 }
            if promotes || fields != previous.fields { refusals.formUnion(Self.denied) }
        }
        if let share = previous.share, let change = operation.share {
            // Who takes part already needs no approval, and loses nothing by it.
            let present =
                change.entries.map { entries in
                    entries.compactMap { entry -> Int? in
                        if case .name(let user) = entry.handle { return user }
                        return match(entry, in: share)?.user
                    }
                } ?? share.participants.compactMap(\.user)
            let known = Set(share.asking + present + [batch.ownedZone.owner])
            if !change.approve.allSatisfy(known.contains) { refusals.insert("BAD_REQUEST") }
        }
        return refusals.isEmpty ? [nil] : refusals
    }

    private func outcomes(
        ofNewShare operation: SharingOperation, _ batch: SharingBatch
    ) -> SharingOutcomes {
        guard let share = operation.share else { return [nil] }
        if operation.compares { return ["NOT_FOUND"] }
        guard batch.isOwners else { return ["BAD_REQUEST", "ACCESS_DENIED"] }
        guard batch.ownedZone.zone != Self.defaultZone else { return ["BAD_REQUEST"] }
        // What it shares is looked at after all operations.
        return (operation.name == Self.zoneShare) == (share.root == nil) ? [nil] : ["BAD_REQUEST"]
    }

    /// What is wrong with a share that a batch begins, as everything is after it.
    private func faults(
        ofNewShare operation: SharingOperation, _ batch: SharingBatch, before: ModelledSharing
    ) -> SharingOutcomes {
        let others = shares(in: batch.ownedZone).filter { $0.name != operation.name }
        guard let root = operation.share?.root else { return others.isEmpty ? [] : ["BAD_REQUEST"] }
        guard let record = record(root, in: batch.ownedZone), record.share == nil else {
            return ["BAD_REQUEST"]
        }
        var found: SharingOutcomes = []
        if before.record(root, in: batch.ownedZone) != nil {
            if operation.share?.rootTag == nil { found.insert("BAD_REQUEST") }
            if operation.share?.isRootTagStale == true { found.insert("CONFLICT") }
        }
        for other in others {
            guard let shared = other.share.root else {
                found.insert("BAD_REQUEST")
                continue
            }
            if shared == root { found.formUnion(["CONFLICT", "BAD_REQUEST"]) }
            if overlaps(root, shared, in: batch.ownedZone) { found.insert("BAD_REQUEST") }
        }
        return found
    }

    private func overlaps(_ one: String, _ other: String, in ownedZone: OwnedZone) -> Bool {
        ancestors(of: one, in: ownedZone).contains(other)
            || ancestors(of: other, in: ownedZone).contains(one)
    }

    // MARK: - After all operations

    /// What must fail for what is there, or is not, after all of them.
    private func broken(
        _ batch: SharingBatch, _ outcomes: [SharingOutcomes]
    ) -> [Int: SharingOutcomes] {
        var after = self
        // Who leaves has until then what they had.
        after.apply(
            batch,
            succeeded: zip(batch.operations, outcomes).map { operation, outcomes in
                let leaves =
                    !batch.isOwners && operation.deletes
                    && record(operation.name, in: batch.ownedZone)?.share != nil
                return outcomes.contains(nil) && !leaves
            })
        var broken: [Int: SharingOutcomes] = [:]
        let gone = gone(batch, outcomes)
        for (index, operation) in batch.operations.enumerated() where outcomes[index].contains(nil)
        {
            let name = operation.name
            if operation.deletes {
                let isMissed = (gone[index] ?? []).contains {
                    !after.children(of: $0, in: batch.ownedZone).isEmpty
                        && after.record($0, in: batch.ownedZone) == nil
                }
                if isMissed { broken[index] = Self.dangling }
            } else if let record = after.record(name, in: batch.ownedZone), record.share == nil {
                var found = after.faults(of: name, record, batch, before: self)
                if after.isTiedToFailure(record, batch, outcomes) { found.formUnion(Self.dangling) }
                if !found.isEmpty { broken[index] = found }
            } else if operation.share != nil, record(name, in: batch.ownedZone) == nil {
                let found = after.faults(ofNewShare: operation, batch, before: self)
                if !found.isEmpty { broken[index] = found }
            }
        }
        return broken
    }

    private func faults(
        of name: String, _ record: Record, _ batch: SharingBatch, before: ModelledSharing
    ) -> SharingOutcomes {
        let ownedZone = batch.ownedZone
        var found: SharingOutcomes = []
        let isRoot = share(ofRoot: name, in: ownedZone) != nil
        if let parent = record.parent, batch.isOwners || !isRoot {
            if self.record(parent, in: ownedZone) == nil { found.formUnion(Self.dangling) }
            if self.record(parent, in: ownedZone)?.share != nil {
                found.formUnion(["BAD_REQUEST", "VALIDATING_REFERENCE_ERROR"])
            }
            let isMoved = parent != before.record(name, in: ownedZone)?.parent
            if isMoved, ancestors(of: name, in: ownedZone).contains(name) {
                found.formUnion(["BAD_REQUEST", "VALIDATING_REFERENCE_ERROR"])
            }
        }
        if batch.isOwners {
            let holdsRoots = tree(name, in: ownedZone).contains {
                share(ofRoot: $0, in: ownedZone) != nil
            }
            let isBelow = ancestors(of: name, in: ownedZone)
                .contains { share(ofRoot: $0, in: ownedZone) != nil }
            if record.parent != before.record(name, in: ownedZone)?.parent, holdsRoots, isBelow {
                found.formUnion(["BAD_REQUEST"])
            }
        } else if permission(of: batch.user, for: name, in: ownedZone) != .readWrite {
            found.formUnion(Self.denied)
            let parent = record.parent
            if parent != nil, permission(of: batch.user, for: parent ?? "", in: ownedZone) == nil {
                found.formUnion(Self.dangling)
            }
        }
        return found
    }

    // MARK: - Doing it

    mutating func perform(
        _ operation: SharingOperation, _ batch: SharingBatch, before: ModelledSharing
    ) {
        let ownedZone = batch.ownedZone
        if operation.deletes { return delete(operation.name, batch, before: before) }
        let previous = record(operation.name, in: ownedZone)
        if previous?.share != nil || operation.share != nil {
            return saveShare(operation, over: previous, batch)
        }
        var record =
            previous
            ?? Record(type: operation.type, creator: batch.user, modifier: batch.user)
        if operation.replaces { record.fields = [:] }
        record.fields.merge(operation.fields) { $1 }
        let keepsParent = !batch.isOwners && share(ofRoot: operation.name, in: ownedZone) != nil
        switch operation.parent {
        case .absent: if operation.replaces, !keepsParent { record.parent = nil }
        case .cleared: if !keepsParent { record.parent = nil }
        case .set(let parent): record.parent = parent
        }
        if record.goesWith != previous?.goesWith { record.isTiedByParticipant = !batch.isOwners }
        record.modifier = batch.user
        if operation.makesGUID { record.hasGUID = true }
        record.touch()
        zones[ownedZone]?.records[operation.name] = record
    }

    private mutating func saveShare(
        _ operation: SharingOperation, over previous: Record?, _ batch: SharingBatch
    ) {
        guard let change = operation.share else { return }
        var record =
            previous
            ?? Record(type: Self.shareType, creator: batch.user, modifier: batch.user)
        var share = record.share ?? Share(root: change.root, publicPermission: .nothing)
        if let entries = change.entries {
            share.participants = entries.map { entry in
                var participant =
                    match(entry, in: share)
                    ?? Participant(
                        handle: entry.handle, user: nil, role: entry.role,
                        permission: entry.permission, status: .invited)
                if case .name(let user) = entry.handle, participant.user == nil {
                    participant.user = user
                }
                if participant.role != .publicUser {
                    participant.role = entry.role
                    participant.permission = entry.permission
                }
                return participant
            }
        }
        if let allows = change.allowsRequests { share.allowsRequests = allows }
        share.decide(change, owner: batch.ownedZone.owner)
        if let permission = change.publicPermission { share.publicPermission = permission }
        if share.publicPermission == .nothing {
            share.participants.removeAll { $0.role == .publicUser }
        }
        for index in share.participants.indices where share.participants[index].role == .publicUser
        {
            share.participants[index].permission = share.publicPermission
        }
        record.fields.merge(operation.fields) { $1 }
        record.share = share
        record.modifier = batch.user
        record.hasGUID = true
        record.touch()
        zones[batch.ownedZone]?.records[operation.name] = record
    }

    /// The participant that an entry of a request means.
    private func match(
        _ entry: SharingOperation.ShareChange.Entry, in share: Share
    ) -> Participant? {
        share.participants.first { $0.id != nil && $0.id == entry.id }
            ?? share.participants.first { $0.handle == entry.handle }
    }

    // MARK: - Links

    /// Whether somebody may resolve and accept a share.
    ///
    /// - Parameter first: whom the link is for that they came by.
    package func maySee(
        _ user: Int, share: Share, in ownedZone: OwnedZone, by first: Participant? = nil
    ) -> Bool {
        if ownedZone.owner == user { return true }
        let own = entry(of: user, in: share)
        if own == nil, share.blocked.contains(user) { return false }
        return (own ?? first)?.permission ?? share.publicPermission != .nothing
    }

    /// Lets somebody in who may see the share.
    package mutating func accept(
        _ name: String, user: Int, in ownedZone: OwnedZone, by first: Participant? = nil
    ) {
        guard let share = record(name, in: ownedZone)?.share, ownedZone.owner != user,
            participation(of: user, in: share) == nil
        else { return }
        let invitation = invitation(of: user, in: share) ?? first
        change(name, in: ownedZone) { record in
            record.share?.asking.removeAll { $0 == user }
            record.share?.blocked.removeAll { $0 == user }
            if let at = record.share?.participants.firstIndex(where: { $0 == invitation }) {
                record.share?.participants[at].status = .accepted
                record.share?.participants[at].user = user
            } else {
                record.share?.participants.append(
                    Participant(
                        handle: .link(user), user: user, role: .publicUser,
                        permission: share.publicPermission, status: .accepted))
            }
            record.touch()
        }
    }
}
