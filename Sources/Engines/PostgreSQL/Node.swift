#if PostgreSQL
    /// The server that a connection leads to: a cluster, and a line of its history, which a promotion begins anew.
    package struct Node: Equatable, Sendable {
        package let cluster: Int64
        package let timeline: Int64

        package init(cluster: Int64, timeline: Int64) {
            self.cluster = cluster
            self.timeline = timeline
        }
    }

    extension Connection {
        /// The server of this session, which it is asked for once; a standby refuses.
        package func node() throws -> Node {
            if let knownNode { return knownNode }
            let rows = try run(
                """
                SELECT system_identifier,
                    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
                FROM pg_control_system()
                """)
            let node = Node(cluster: rows.number(0, 0), timeline: rows.number(0, 1))
            knownNode = node
            return node
        }
    }
#endif
