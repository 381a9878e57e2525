import CloudDatabase
import CloudModel
import Storage

/// Looks up what waits for a courier, as long as its token lives.
struct CourierInbox: Sendable {
    /// How many milliseconds pass at least before the use of a destination is noted again.
    private static let useNotedMilliseconds: Milliseconds = 3_600_000
    /// Notices that are read at a time.
    private static let pageNotices = 16

    private let sessions: DestinationSessions
    private let clock: Clock
    private let idleMillisecondsMax: Milliseconds

    init(_ dependencies: ProtocolResponder.Dependencies) {
        sessions = DestinationSessions(
            catalog: dependencies.catalog, clock: dependencies.clock)
        clock = dependencies.clock
        idleMillisecondsMax = Milliseconds(dependencies.limits.courierIdleDays) * 86_400_000
    }

    /// What one look has found.
    struct PendingNotices: Sendable {
        let destination: StoredDestination
        let user: UserRecordName
        let notices: [StoredNotice]
    }

    private enum Outcome {
        case unknown
        case ended(DestinationNumber)
        case found(PendingNotices, lost: [NoticeNumber])
    }

    /// The notices that wait, in order, without those that their user may no longer see.
    ///
    /// - Parameters:
    ///   - key: that of the token.
    ///   - take: false for a notice that somebody else has taken.
    /// - Returns: nil when the token has ended.
    func look(
        for key: [UInt8], after number: NoticeNumber, limit most: Int, in storage: any Store,
        by reader: StoreReader = StoreReader(loop: nil), taking take: (NoticeNumber) -> Bool
    ) throws -> PendingNotices? {
        let outcome = try storage.read(by: reader) { snapshot -> Outcome in
            guard let destination = try snapshot.destination(.courier, key: key),
                let user = destination.user
            else { return .unknown }
            guard try isAlive(destination) else { return .ended(destination.number) }
            var (notices, lost) = ([StoredNotice](), [NoticeNumber]())
            var after = number
            while notices.count < most {
                let page = try snapshot.notices(
                    for: destination.number, after: after, limit: Self.pageNotices)
                for notice in page where notices.count < most {
                    after = notice.number
                    if try !NoticeRights.allow(notice, to: user, snapshot) {
                        lost.append(notice.number)
                    } else if take(notice.number) {
                        notices.append(notice)
                    }
                }
                if page.count < Self.pageNotices { break }
            }
            return .found(
                PendingNotices(destination: destination, user: user, notices: notices), lost: lost)
        }
        switch outcome {
        case .unknown: return nil
        case .ended(let number):
            // NB: what this does not remove, the upkeep removes later.
            storage.write(cost: 1, frees: true) {
                try $0.removeDestination(number)
            } completion: { _ in
            }
            return nil
        case .found(let found, let lost):
            remove(lost, from: storage)
            noteUse(of: found.destination, in: storage)
            return found
        }
    }

    /// A courier ends with its session, and when nobody has used it for long.
    private func isAlive(_ destination: StoredDestination) throws -> Bool {
        guard clock.now() - destination.usedAt < idleMillisecondsMax else { return false }
        return try !sessions.hasEnded(destination)
    }

    /// When the session of a courier ends; nil for one that has ended.
    func sessionEnd(of destination: StoredDestination) throws -> Milliseconds? {
        try sessions.end(of: destination)
    }

    private func remove(_ lost: [NoticeNumber], from storage: any Store) {
        guard !lost.isEmpty else { return }
        // NB: what stays is found, and thrown away, by the next look.
        storage.write(cost: 1, frees: true) {
            try $0.removeNotices(lost)
        } completion: { _ in
        }
    }

    private func noteUse(of destination: StoredDestination, in storage: any Store) {
        guard clock.now() - destination.usedAt >= Self.useNotedMilliseconds else { return }
        let number = destination.number
        // NB: if this is not noted now, one of the next looks notes it.
        storage.write(cost: 1, frees: false) {
            try $0.use(number)
        } completion: { _ in
        }
    }
}
