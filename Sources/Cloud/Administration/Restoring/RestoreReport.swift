import CloudModel

/// What comes of taking data out of a backup, or would come of it.
package struct RestoreReport: Sendable {
    /// A record that comes back, or gets the backup's values.
    package struct Record: Sendable {
        package let environment: ContainerEnvironment
        package let zone: ZoneName
        package let name: String
        package let type: String
        /// What differs from what is there; nil for a record that is not there.
        package let differences: [RecordDifference]?
    }

    /// How many records are named one by one.
    static let recordsMax = 200

    /// Whether it was done, and not only shown.
    package var isDone = false
    /// Records that are not there and come back.
    package var made = 0
    /// Records that get the backup's values.
    package var changed = 0
    /// Records that are as they were.
    package var same = 0
    /// Records that were made since, and stay as they are.
    package var newer = 0
    /// Shares that come back, under new links.
    package var shares = 0
    /// Shares of the backup that are left out, since nobody asked for them.
    package var sharesLeft = 0
    /// The first of those that are made or changed.
    package var records: [Record] = []
    /// What the backup does not have whole.
    package var problems: [String] = []
    /// Records that were to come back and did not, with the reasons.
    package var failed = 0
    package var failures: [ImportRecords.Failure] = []
    /// What was not done, in a line each.
    package var notes: [String] = []

    mutating func add(_ record: @autoclosure () -> Record) {
        if records.count < Self.recordsMax { records.append(record()) }
    }
}
