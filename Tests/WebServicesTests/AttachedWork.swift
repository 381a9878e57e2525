import CloudDatabase
import Storage
import Synchronization

/// Who does the work of which store: one at a time, whatever stands before the store.
enum AttachedWork {
    /// The notices of a store are one object, by which it is known.
    private static let attached = Mutex<[ObjectIdentifier: Doers]>([:])

    private struct Doers {
        let queued: WorkRunner
        let telling: NoticeRunner?

        func stop() {
            telling?.stop()
            queued.stop()
        }
    }

    /// Has runners do a store's work, in place of those before.
    static func attach(_ queued: WorkRunner, _ telling: NoticeRunner? = nil, to store: any Store) {
        stop(of: store)
        let key = ObjectIdentifier(store.notices)
        attached.withLock { $0[key] = Doers(queued: queued, telling: telling) }
        queued.begin()
        telling?.wake()
    }

    /// Ends a store's work.
    static func stop(of store: any Store) {
        let key = ObjectIdentifier(store.notices)
        attached.withLock { $0.removeValue(forKey: key) }?.stop()
    }
}
