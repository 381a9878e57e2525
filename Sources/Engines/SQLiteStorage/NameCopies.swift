/// SQL that compares a name in its table with the copy of it in the unique index over names.
///
/// These names have no checksum. A bit that flips changes one of the copies: then neither is served. `check`
/// names such a row, since SQLite compares all tables with their indexes for it.
enum NameCopies {
    /// Whether both say the same of a zone; a deleted one is in no index.
    ///
    /// - Parameter zone: a row of `zones` that was found by its number.
    static func ofZone(_ zone: String) -> String {
        """
        (\(zone).deleted_at IS NOT NULL OR \(zone).id IS (
            SELECT copy.id FROM zones copy WHERE copy.owner = \(zone).owner
            AND copy.name = \(zone).name AND copy.deleted_at IS NULL))
        """
    }

    /// Whether both say the same of an owner.
    ///
    /// - Parameter owner: a row of `owners` that was found by its number.
    static func ofOwner(_ owner: String) -> String {
        """
        (\(owner).id IS (
            SELECT copy.id FROM owners copy WHERE copy.record_name = \(owner).record_name))
        """
    }

    /// Whether both say the same of a type.
    ///
    /// - Parameter type: a row of `record_types` that was found by its number.
    static func ofType(_ type: String) -> String {
        "(\(type).id IS (SELECT copy.id FROM record_types copy WHERE copy.name = \(type).name))"
    }
}
