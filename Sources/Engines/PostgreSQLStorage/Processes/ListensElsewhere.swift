#if PostgreSQL
    import Storage

    /// A process would listen to another database than it keeps its data in.
    package struct ListensElsewhere: EngineFault, Equatable {
        package var finding: EngineFinding { .other }

        package var description: String {
            "storage.postgres.listenURL does not lead to the database of storage.postgresURL"
        }

        package init() {}
    }
#endif
