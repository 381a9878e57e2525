#if PostgreSQL
    /// The promises that the engine on PostgreSQL does not keep yet, because they need what is not built.
    ///
    /// `docs/design/postgres.md` says what that is.
    enum NotBuiltPromises {
        static let all: Set<String> = []
    }
#endif
