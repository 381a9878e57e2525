#if PostgreSQL
    import CloudModel
    import Storage

    extension WorkKind {
        /// All kinds of which there may be work in a store.
        static let stored: [WorkKind] = [
            .cover, .deleteSources, .collect, .collectAssets, .tellRequests, .maintenance(.index),
        ]

        /// The kind in a row of the queue; nil for work that this engine does not have.
        var number: Int64? {
            switch self {
            case .cover: 1
            case .deleteSources: 2
            case .collect: 4
            case .collectAssets: 5
            case .tellRequests: 6
            case .maintenance(let maintenance): maintenance == .index ? 3 : nil
            }
        }
    }
#endif
