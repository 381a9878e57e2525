import CFaultVFS
import CSQLite
import Synchronization

/// A disk whose calls a test counts, and fails as it likes.
///
/// Alive until every connection on it is closed.
final class FaultDisk: @unchecked Sendable {
    // The C side has its own lock, and `decision` is set before the first connection is opened.

    typealias Decision = @Sendable (_ operation: fault_operation, _ path: String) -> Int32

    let name: String
    private var vfs: OpaquePointer?
    private let decision: Decision

    /// - Parameter records: whether images of a power cut can be made.
    init(_ name: String, records: Bool = false, _ decision: @escaping Decision) {
        self.name = name
        self.decision = decision
        vfs = fault_vfs_create(
            name, records ? 1 : 0,
            { context, operation, path in
                guard let context else { return SQLITE_OK }
                let disk = Unmanaged<FaultDisk>.fromOpaque(context).takeUnretainedValue()
                return disk.decision(operation, String(cString: path))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { if let vfs { fault_vfs_destroy(vfs) } }

    /// Sets what the system's error of a failed write is said to have been.
    func setError(_ error: Int32) {
        if let vfs { fault_vfs_set_error(vfs, error) }
    }

    /// Writes what a power cut now would leave; seed 0 drops all that is not synced.
    func writeImage(to folder: String, seed: UInt64) -> Bool {
        vfs.map { fault_vfs_write_image($0, folder, seed) == 0 } ?? false
    }
}

/// Fails the Nth call of one kind, once or from then on.
final class FaultPlan: Sendable {
    let operation: fault_operation
    let code: Int32
    let nth: Int
    let persists: Bool
    private let state = Mutex((calls: 0, isArmed: true))

    init(_ operation: fault_operation, code: Int32, nth: Int, persists: Bool) {
        self.operation = operation
        self.code = code
        self.nth = nth
        self.persists = persists
    }

    /// Whether the call that was to fail has come.
    var hasFired: Bool { state.withLock { $0.calls >= nth } }

    /// Lets everything through from now on.
    func disarm() { state.withLock { $0.isArmed = false } }

    func decide(_ operation: fault_operation) -> Int32 {
        guard operation == self.operation else { return SQLITE_OK }
        return state.withLock { state in
            guard state.isArmed else { return SQLITE_OK }
            state.calls += 1
            return state.calls == nth || (persists && state.calls > nth) ? code : SQLITE_OK
        }
    }
}
