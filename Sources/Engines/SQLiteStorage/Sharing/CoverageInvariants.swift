import CloudModel
import SQLite
import Storage

/// Holds what is written of shares to what always is so of them, before it is committed.
///
/// Different tables say what a share covers and who has a grant of it. If they disagreed, somebody would be
/// shown what is not theirs, or not be shown what is.
final class CoverageInvariants: LazyStatements {
    private lazy var activeShare = connection.statement(
        "SELECT zone FROM shares WHERE id = ?1 AND ended IS NULL")
    private lazy var view = connection.statement(
        "SELECT shares_granted, ended IS NULL FROM views WHERE viewer = ?1 AND zone = ?2")
    private lazy var granted = connection.statement(
        "SELECT 1 FROM grants WHERE viewer = ?1 AND zone = ?2 AND revoked IS NULL LIMIT 1")
    private lazy var viewsOfShare = connection.statement(
        """
        SELECT v.viewer FROM grants g LEFT JOIN views v ON v.viewer = g.viewer AND v.zone = g.zone
        WHERE g.share = ?1 AND g.revoked IS NULL AND (v.shares_granted IS NULL OR v.shares_granted < 0
            OR (v.ended IS NULL) <> (v.shares_granted > 0)) LIMIT 1
        """)

    /// The zone of a share that stands.
    ///
    /// - Throws: `BrokenInvariant` for one that has ended or has never been.
    func zone(of share: ShareNumber) throws -> ZoneNumber {
        defer { activeShare.reset() }
        activeShare.bind(share.value, at: 1)
        guard try activeShare.step() else {
            throw BrokenInvariant(
                "only a standing share covers or is granted: share \(share.value)")
        }
        return ZoneNumber(activeShare.int64(0))
    }

    /// A viewer has a zone exactly as long as a share of it is granted to them.
    func checkView(of viewer: UserRecordName, in zone: ZoneNumber) throws {
        view.bind(viewer.text, zone.value)
        defer { view.reset() }
        let (count, stands) = try view.step() ? (view.int64(0), view.int64(1) != 0) : (0, false)
        granted.bind(viewer.text, zone.value)
        defer { granted.reset() }
        guard try granted.step() == stands, stands == (count > 0), count >= 0 else {
            throw BrokenInvariant(
                "who has a zone has a grant of it: zone \(zone.value), \(count) grants counted")
        }
    }

    /// As `checkView`, for all who have a share, once their zones no longer count it and before it is taken from them.
    func checkViews(of share: ShareNumber) throws {
        defer { viewsOfShare.reset() }
        viewsOfShare.bind(share.value, at: 1)
        guard try !viewsOfShare.step() else {
            throw BrokenInvariant("who has a zone has a grant of it: share \(share.value) ends")
        }
    }
}
