import CloudModel
import Storage

/// What an operation will do.
enum PlannedStep {
    case fault(Fault)
    /// Boxed, because a step is passed on several times and has a dozen reference-counted parts.
    indirect case save(PlannedSave)
    /// Deletes the record, and these other records with it.
    case delete([RecordKey])
    /// A participant leaves the share whose record they delete.
    case leave(StoredShare)
    /// There is nothing to delete.
    case nothing

    var isFault: Bool { if case .fault = self { true } else { false } }
}

/// What a batch makes of a record.
enum PlannedRecord {
    case saved([Link])
    case deleted
}

/// What a step takes of the allowance that all operations share; a step that does not get enough fails.
struct StepCharge {
    /// Bytes of the owner's quota.
    var bytes: Int64 = 0
    /// How many records its largest cascade takes.
    var cascade = 0
}

/// The decision of one operation by itself, before the allowance is charged.
struct DecidedStep {
    var step: PlannedStep
    var charge = StepCharge()
    /// The record's type after the save; nil when the stored schema already has all that it needs.
    var grown: GrownType?
}
