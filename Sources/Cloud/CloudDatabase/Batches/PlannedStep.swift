import CloudModel
import Storage

/// What an operation will do.
enum PlannedStep {
    case fault(Fault)
    /// Boxed: a step is handed on several times, and has a dozen parts to count references of.
    indirect case save(PlannedSave)
    /// The records that go with the deleted one.
    case delete([RecordKey])
    /// A participant leaves the share whose record they delete.
    case leave(StoredShare)
    /// There is nothing to delete.
    case nothing

    var isFault: Bool { if case .fault = self { true } else { false } }
}

/// What becomes of a record that a batch touches.
enum PlannedRecord {
    case saved([Link])
    case deleted
}

/// What a step takes of what all operations share; a step for which there is not enough fails.
struct StepCharge {
    /// Bytes of the owner's quota.
    var bytes: Int64 = 0
    /// The records of its largest cascade.
    var cascade = 0
}

/// What deciding an operation for itself has come to: it is still to be charged.
struct DecidedStep {
    var step: PlannedStep
    var charge = StepCharge()
    /// The record's type as the save leaves it; nil when the stored schema has all that it needs.
    var grown: GrownType?
}
