#if PostgreSQL
    import PostgreSQL
    import Storage

    extension PostgreSQLError: EngineFault {
        package var finding: EngineFinding { .other }
    }

    extension PostgreSQLError {
        /// What the failure is to callers of the store; a fault stays what it is.
        var failure: any Error {
            if PooledByTransaction.states.contains(state) { return PooledByTransaction() }
            return switch kind {
            case .serialization, .deadlock, .lockTimeout: StorageFailure.conflict
            case .cancelled: StorageFailure.interrupted
            case .full: StorageFailure.full
            case .unavailable, .readOnly, .lost: StorageFailure.unavailable(.unreachable(message))
            case .condition: BrokenInvariant("what a group adds, it adds to rows that are there")
            case .unique: BrokenInvariant("a key has one row: \(message)")
            case .refused, .other: self
            }
        }
    }
#endif
