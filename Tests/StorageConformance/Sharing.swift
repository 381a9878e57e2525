import CloudModel
import Storage

// Shares, what they cover, and who is granted them.
extension StoragePromise {
    /// A tree that is shared: a root, its share record, and children, all in the share.
    struct Tree: Sendable {
        let share: StoredShare
        let root: StoredHead
        var children: [StoredHead] = []

        init(
            _ name: String, in zone: StoredZone, children count: Int = 0,
            _ transaction: any StoreTransaction
        ) throws {
            let root = try transaction.save(name, in: zone, flags: .root)
            let record = try transaction.save("\(name)-share", in: zone, flags: .share)
            share = try transaction.makeShare(
                in: zone.number, record: record.record, root: root.record, publicPermission: .none)
            self.root = root
            for head in [root, record] { try Self.enter(head, share, transaction) }
            for number in 0..<count {
                let parent = Link(
                    targetZone: zone.number, target: Trial.record(name), kind: .parent)
                let child = try transaction.save("\(name)-\(number)", in: zone, links: [parent])
                try Self.enter(child, share, transaction)
                children.append(child)
            }
        }

        static func enter(
            _ head: StoredHead, _ share: StoredShare, _ transaction: any StoreTransaction
        ) throws {
            let position = try transaction.takePosition()
            try transaction.enter(
                StoredStay(
                    share: share.number, position: position, record: head.record,
                    version: head.position,
                    type: try transaction.schema.types[Trial.type]?.number ?? 0,
                    entered: position, left: nil))
        }
    }

    static let shares = [
        StoragePromise("A share is found by its number, its root and its record while it stands") {
            trial in
            let zone = try trial.makeZone()
            let tree = try trial.write { try Tree("t", in: zone, $0) }
            try trial.write {
                try $0.setPublicPermission(.readOnly, of: tree.share.number)
                try $0.setShortGUID("guid", of: tree.root.record)
            }
            try trial.read { snapshot in
                for found in try [
                    snapshot.share(tree.share.number), snapshot.share(ofRoot: tree.root.record),
                    snapshot.share(ofRecord: tree.share.record),
                    snapshot.shares(in: zone.number, limit: 5).first,
                ] {
                    try expect(found?.number == tree.share.number && found?.ended == nil)
                    try expect(found?.publicPermission == .readOnly)
                }
                try expect(snapshot.record(ofShortGUID: "guid") == tree.root.record)
                try expect(snapshot.shortGUID(of: tree.root.record) == "guid")
                try expect(snapshot.isWhole(tree.share.number) && snapshot.isWhole(zone.number))
            }
            try expect(trial.write { try $0.keepsTrees(zone.number) })
            try trial.write { transaction in
                try transaction.save("t", in: zone)
                try transaction.writeTombstone("t-share", in: zone)
                try transaction.endShare(tree.share.number)
            }
            try trial.read { snapshot in
                try expect(snapshot.share(tree.share.number)?.ended != nil)
                try expect(snapshot.share(ofRoot: tree.root.record) == nil)
                try expect(snapshot.share(ofRecord: tree.share.record) == nil)
                try expect(snapshot.shares(in: zone.number, limit: 5).isEmpty)
                try expect(snapshot.cover(of: tree.root.record) == nil)
                try expect(snapshot.record(ofShortGUID: "guid") == tree.root.record)
            }
        },
        StoragePromise("A write that fails to end a share leaves a zone with a tree to keep") {
            trial in
            struct Refusal: Error {}
            let zone = try trial.makeZone()
            try expect(!trial.write { try $0.keepsTrees(zone.number) })
            let tree = try trial.write { try Tree("t", in: zone, $0) }
            try expectFailure(Refusal.self) {
                try trial.write { transaction in
                    try transaction.save("t", in: zone)
                    try transaction.writeTombstone("t-share", in: zone)
                    try transaction.endShare(tree.share.number)
                    try expect(!transaction.keepsTrees(zone.number))
                    throw Refusal()
                }
            }
            try expect(trial.write { try $0.keepsTrees(zone.number) })
        },
        StoragePromise("Participants are found by share, by user and by address") { trial in
            let zone = try trial.makeZone()
            let share = try trial.write { try Tree("t", in: zone, $0).share.number }
            let people = [
                StoredParticipant(
                    id: "1", user: Trial.user(2), address: nil, role: .privateUser,
                    permission: .readOnly, status: .accepted),
                StoredParticipant(
                    id: "2", user: nil, address: "a@b.example", role: .privateUser,
                    permission: .readWrite, status: .invited),
            ]
            try trial.write { transaction in
                for person in people { try transaction.save(person, of: share) }
                var changed = people[0]
                changed.permission = .readWrite
                try transaction.save(changed, of: share)
            }
            try trial.read { snapshot in
                try expect(snapshot.participants(of: share).count, is: 2)
                let mine = try snapshot.participations(of: Trial.user(2))
                try expect(mine.map(\.0) == [share] && mine.first?.1.permission == .readWrite)
                try expect(
                    snapshot.invitations(to: "a@b.example").map(\.1) == [people[1]])
            }
            try trial.write { try $0.removeParticipant("2", of: share) }
            try expect(trial.read { try $0.invitations(to: "a@b.example").isEmpty })
        },
        StoragePromise("Where a viewer's feed begins is told once their lost zones are collected") {
            trial in
            let zone = try trial.makeZone()
            let viewer = Trial.user(2)
            try expect(trial.read { try $0.viewsWholeAfter(of: viewer) }, is: 0)
            let share = try trial.write { try Tree("t", in: zone, $0).share }
            try trial.write { try $0.grant(share, to: viewer, permission: .readOnly) }
            try trial.write { try $0.deleteZone(zone) }
            let ended = try require(
                trial.read { try $0.view(of: viewer, in: zone.number)?.ended })
            let moment = trial.clock.now + 1
            while try trial.write({ try $0.collect(olderThan: moment, rowsMax: 5) }) {}
            try expect(trial.read { try $0.viewsWholeAfter(of: viewer) } >= ended)
            try expect(trial.read { try $0.viewsWholeAfter(of: Trial.user(3)) }, is: 0)
        },
        StoragePromise("A viewer has a zone from their first grant in it to the end of the last") {
            trial in
            let zone = try trial.makeZone()
            let viewer = Trial.user(2)
            let (one, two) = try trial.write { transaction in
                (
                    try Tree("one", in: zone, transaction).share,
                    try Tree("two", in: zone, transaction).share
                )
            }
            func view() throws -> StoredView? {
                try trial.read { try $0.view(of: viewer, in: zone.number) }
            }
            try expect(view() == nil)
            try trial.write { try $0.grant(one, to: viewer, permission: .readOnly) }
            let since = try require(view()).since
            try trial.write { try $0.grant(two, to: viewer, permission: .readWrite) }
            try trial.write { try $0.grant(two, to: viewer, permission: .readOnly) }
            try trial.read { snapshot in
                try expect(snapshot.grant(of: two.number, to: viewer)?.permission == .readOnly)
                try expect(snapshot.zonesViewed(by: viewer).map(\.number), is: [zone.number])
                let grants = try snapshot.grants(of: viewer, in: zone.number, changedAfter: 0)
                try expect(Set(grants.map(\.share)), is: [one.number, two.number])
                try expect(
                    snapshot.views(of: viewer, changedAfter: since, limit: 5).map(\.zone),
                    is: [zone.number])
            }
            try trial.write { try $0.revoke(one.number, from: viewer) }
            try expect(view()?.ended == nil && view()?.since == since)
            try trial.write { try $0.revoke(one.number, from: viewer) }
            try trial.write { transaction in
                try transaction.save("two", in: zone)
                try transaction.writeTombstone("two-share", in: zone)
                try transaction.endShare(two.number)
            }
            let ended = try require(view())
            try expect(ended.ended == ended.changed && ended.changed > since)
            try trial.read { snapshot in
                try expect(snapshot.grant(of: two.number, to: viewer) == nil)
                try expect(snapshot.zonesViewed(by: viewer).isEmpty)
                try expect(snapshot.lastViewChange(of: viewer), is: ended.changed)
            }
            try trial.write { try $0.grant(one, to: viewer, permission: .readOnly) }
            try expect(view()?.ended == nil && view()?.since ?? 0 > ended.changed)
            try trial.write { try $0.deleteZone(zone) }
            try expect(view()?.ended != nil)
        },
        StoragePromise("What has ended is neither granted nor covers anything") { trial in
            let zone = try trial.makeZone()
            let tree = try trial.write { try Tree("t", in: zone, $0) }
            try trial.write { transaction in
                try transaction.save("t", in: zone)
                try transaction.writeTombstone("t-share", in: zone)
                try transaction.endShare(tree.share.number)
            }
            try expectFailure(BrokenInvariant.self) {
                try trial.write {
                    try $0.grant(tree.share, to: Trial.user(2), permission: .readOnly)
                }
            }
            try expectFailure(BrokenInvariant.self) {
                try trial.write { transaction in
                    let head = try transaction.save("x", in: zone)
                    try Tree.enter(head, tree.share, transaction)
                }
            }
            try expect(trial.read { try $0.view(of: Trial.user(2), in: zone.number) } == nil)
        },
    ]

    static let stays = [
        StoragePromise("Stays come in order with their versions, page by page") { trial in
            let zone = try trial.makeZone()
            let tree = try trial.write { try Tree("t", in: zone, children: 120, $0) }
            var seen: [String] = []
            var place: Position = 0
            while true {
                let run = try trial.read { snapshot in
                    try snapshot.stays(
                        of: tree.share.number, in: zone.number, after: place, limit: 17,
                        withVersions: true)
                }
                for (index, stay) in run.stays.enumerated() {
                    try expect(stay.position > place && stay.left == nil)
                    place = stay.position
                    let body = run.version(of: index) { Trial.name(in: $0.body) }
                    seen.append(try require(body))
                }
                if run.isLast { break }
            }
            try expect(seen, is: ["t", "t-share"] + (0..<120).map { "t-\($0)" })
        },
        StoragePromise("A stay moves with its record's version, and ends where the record leaves") {
            trial in
            let zone = try trial.makeZone()
            let viewer = Trial.user(2)
            let tree = try trial.write { try Tree("t", in: zone, children: 3, $0) }
            try trial.write { try $0.grant(tree.share, to: viewer, permission: .readOnly) }
            let start = try trial.read { try require($0.view(of: viewer, in: zone.number)).changed }
            let (saved, gone) = (tree.children[0].record, tree.children[1].record)
            try trial.write { transaction in
                let head = try transaction.save("t-0", in: zone)
                let cover = try require(transaction.cover(of: saved))
                try transaction.renew(
                    saved, cover, at: head.position,
                    type: try transaction.schema.types[Trial.type]?.number ?? 0)
                let left = try transaction.save("t-1", in: zone, links: []).position
                try transaction.leave(
                    gone, require(transaction.cover(of: gone)), at: transaction.takePosition(),
                    left: left)
            }
            try trial.read { snapshot in
                try expect(snapshot.cover(of: gone) == nil)
                try expect(snapshot.cover(of: saved)?.share == tree.share.number)
                let run = try require(
                    snapshot.changedStays(
                        of: viewer, in: zone.number, after: start, limit: 50))
                try expect(run.isLast)
                try expect(run.stays.map(\.record), is: [saved, gone])
                try expect(run.stays[0].left == nil && run.stays[1].left != nil)
                try expect(run.version(of: 0) { $0.record } == saved)
                try expect(
                    snapshot.changedStays(of: viewer, in: zone.number, after: start, limit: 1)
                        == nil)
                try expect(snapshot.view(of: viewer, in: zone.number)?.changed ?? 0 > start)
            }
        },
        StoragePromise("A cover that leads to no stay of its record is refused") { trial in
            let zone = try trial.makeZone()
            let tree = try trial.write { try Tree("t", in: zone, children: 2, $0) }
            let (one, two) = (tree.children[0].record, tree.children[1].record)
            try expectFailure(BrokenInvariant.self) {
                try trial.write { transaction in
                    let cover = try require(transaction.cover(of: one))
                    let position = try transaction.takePosition()
                    try transaction.leave(two, cover, at: position, left: position)
                }
            }
            try expectFailure(BrokenInvariant.self) {
                try trial.write { transaction in
                    let cover = StoredCover(share: tree.share.number, position: 1)
                    try transaction.renew(
                        one, cover, at: transaction.takePosition(), type: 1)
                }
            }
            try expect(trial.read { try $0.cover(of: two)?.share } == tree.share.number)
        },
        StoragePromise("A share is not whole while queued work concerns it") { trial in
            let zone = try trial.makeZone()
            let tree = try trial.write { try Tree("t", in: zone, $0) }
            try trial.write { transaction in
                let since = try transaction.takePosition()
                try transaction.enqueue(.cover(tree.root.record, in: zone.number))
                try transaction.markCoverWork(
                    tree.root.record, in: zone.number, concerning: [tree.share.number],
                    since: since)
                try expect(
                    transaction.coverWorkSince(
                        tree.root.record, concerning: tree.share.number) == since)
            }
            try expect(trial.read { try !$0.isWhole(tree.share.number) })
            try expect(trial.read { try !$0.isWhole(zone.number) })
            try trial.write { transaction in
                var turn = WorkTurn(WorkHolder(1), [.cover])
                try transaction.finish(require(transaction.takeWork(&turn)))
            }
            try expect(trial.read { try $0.isWhole(tree.share.number) && $0.isWhole(zone.number) })
        },
    ]
}
