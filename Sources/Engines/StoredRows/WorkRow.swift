import CloudModel
import Storage

/// What a task is in a row of the queue of work.
package struct WorkRow {
    package let subject: Int64
    package let item: Int64
    package let name: String

    package init(subject: Int64, item: Int64, name: String) {
        self.subject = subject
        self.item = item
        self.name = name
    }

    package init(_ task: WorkTask) {
        switch task {
        case .cover(let record, in: let zone):
            self.init(subject: zone.value, item: record.value, name: "")
        case .deleteSources(of: let target, in: let zone, let position):
            self.init(subject: position, item: zone.value, name: target.text)
        case .tellRequests(let share):
            self.init(subject: share?.value ?? 0, item: 0, name: "")
        case .collect, .collectAssets, .maintenance:
            self.init(subject: 0, item: 0, name: "")
        }
    }

    /// Nil for a row that nothing can be made of.
    package func task(of kind: WorkKind) -> WorkTask? {
        switch kind {
        case .cover: .cover(RecordNumber(item), in: ZoneNumber(subject))
        case .deleteSources:
            RecordName(name).map {
                .deleteSources(of: $0, in: ZoneNumber(item), deletedAt: subject)
            }
        case .collect: .collect
        case .collectAssets: .collectAssets
        case .tellRequests: .tellRequests(subject == 0 ? nil : ShareNumber(subject))
        case .maintenance, .maintenanceBeside: nil
        }
    }
}
