import CloudModel

/// What a read or a write will ask for, handed over beside its closure.
///
/// An engine behind a network fetches it for many of them at once, before their closures run; for writes together with
/// the schema. Then these questions cost nothing; further ones are answered, too, only slower. An engine to which
/// questions cost little may pass it over. It changes nothing of what a closure sees.
package struct StoreNeeds: Sendable {
    /// The owner of the zone that is read or written to.
    package var owner: UserRecordName?
    /// The zone, with what is stored of the owner.
    package var zone: ZoneName?
    /// Whose view, grants and roles are looked at; nil where nobody else's matter.
    package var viewer: UserRecordName?
    /// The names in the zone whose current records are looked at, parents and other targets included.
    package var records: [RecordName] = []

    package init() {}
}
