#if PostgreSQL
    import Foundation

    /// What sessions have asked a server that notes it, in the order of each.
    struct NotedStatements {
        /// Transactions that lock a store's counter.
        private(set) var groups = 0
        private(set) var notifications = 0
        /// How many of them came while a transaction was open.
        private(set) var notificationsWithin = 0
        /// Changes of the catalog, which end what was true.
        private(set) var catalogChanges = 0
        /// How many notifications came while any session had one of them open.
        private(set) var notificationsBesideChanges = 0

        /// - Parameter file: a line each begins with a moment and `[process]`; further lines of a statement follow.
        init(in file: String) throws {
            var open: Set<Substring> = []
            var changing: Set<Substring> = []
            var session: Substring = ""
            let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
            for line in text.split(separator: "\n") {
                if let start = line.range(of: "] LOG:  execute "),
                    let number = line[..<start.lowerBound].split(separator: "[").last
                {
                    session = number
                } else if !line.hasPrefix("\t") {
                    session = ""
                }
                guard !session.isEmpty else { continue }
                if line.contains(": BEGIN") { open.insert(session) }
                if line.contains(": COMMIT") || line.contains(": ROLLBACK") {
                    open.remove(session)
                    changing.remove(session)
                }
                if line.contains("FROM catalog_version"), line.contains("FOR UPDATE") {
                    changing.insert(session)
                }
                if line.contains("UPDATE catalog_version SET") { catalogChanges += 1 }
                if line.contains("FOR NO KEY UPDATE"), open.contains(session) { groups += 1 }
                guard line.contains("pg_notify") || line.contains("NOTIFY ") else { continue }
                notifications += 1
                if open.contains(session) { notificationsWithin += 1 }
                if !changing.isEmpty { notificationsBesideChanges += 1 }
            }
        }
    }
#endif
