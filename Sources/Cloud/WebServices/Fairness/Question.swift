import CloudDatabase
import CloudModel
import Storage

/// All that the answer of a feed's endpoint depends on, but for what is in the store.
///
/// It says who asks by which credential, from which device, for what, and in which store. Two who ask the same
/// question, with no commit between their looks, may have the same answer. What does not lie in the store, such as
/// people's names and the time, may differ: so an answer is kept for `SharedAnswers.nanosecondsMax` at most.
struct Question: Hashable {
    /// Held, so that no other store's notices get the same identifier.
    private let notices: CommitNotices
    private let caller: Caller
    /// The credential and the user, as links to assets have them.
    private let origin: AssetOrigin
    private let operation: String
    private let database: DatabaseScope?
    private let device: String?
    private let body: [UInt8]

    init(_ context: RequestContext) {
        notices = context.store.storage.notices
        caller = context.caller
        origin = AssetOrigin(context.identified)
        operation = context.address.operation
        database = context.address.database
        device = context.namedDevice
        body = context.request.body
    }

    static func == (one: Question, other: Question) -> Bool {
        one.notices === other.notices && one.body == other.body && one.caller == other.caller
            && one.origin == other.origin && one.operation == other.operation
            && one.database == other.database && one.device == other.device
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(caller.userRecordName)
        hasher.combine(body)
    }

    /// What it takes itself, about.
    var bytes: Int { body.count + (device?.utf8.count ?? 0) }
}
