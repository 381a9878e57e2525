#if PostgreSQL
    import Storage

    /// A process would keep assets where the others on its database do not look for them.
    package struct AssetsElsewhere: EngineFault, Equatable {
        package let own: String
        package let others: String

        package init(own: String, others: String) {
            self.own = own
            self.others = others
        }

        package var finding: EngineFinding { .other }

        package var description: String {
            "another process serves this database with its assets in \(others), and this one's are in \(own). Give "
                + "all of them the same bucket (s3), or mount one folder as containers/ in each data folder"
        }
    }
#endif
