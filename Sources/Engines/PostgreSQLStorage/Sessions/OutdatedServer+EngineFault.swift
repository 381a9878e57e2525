#if PostgreSQL
    import PostgreSQL
    import Storage

    extension OutdatedServer: EngineFault {
        package var finding: EngineFinding { .foreign }
    }
#endif
