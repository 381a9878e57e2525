#if PostgreSQL
    import CloudModel
    import Dispatch
    import Platform
    import PostgreSQL
    import Storage
    import StoredRows

    // A container that is taken out of use is so in every process: each closes its stores, and opens none of them again.
    // Who copies it waits until nobody has them open.
    extension PostgreSQLEngine {
        /// How long the others have for what is on its way in their stores.
        private static let closingSeconds = 30
        private static let lookMicroseconds: UInt32 = 20_000

        /// Has the open stores closed whose containers are out of use by now; does not block.
        func closeMoved() {
            guard !openKeys.isEmpty else { return }
            DispatchQueue.global().async { [weak self] in
                guard let self else { return }
                // NB: where the database does not answer, the copy that waits is refused, and asked for again.
                guard let moved = try? longSession(Self.moved) else { return }
                for key in openKeys where moved.contains(key.container.folded) {
                    options.onGone(key)
                }
            }
        }

        private static func moved(_ connection: Connection) throws -> Set<String> {
            let rows = try connection.run(
                "SELECT container FROM catalog.container_settings WHERE key = $1",
                .text(ContainerRecord.movedKey))
            return Set((0..<rows.count).map { rows.text($0, 0) })
        }

        /// Waits until no other process that lives has a store open.
        ///
        /// - Throws: `CopyRefusal` where they do not close it.
        func waitUntilClosed(
            _ key: StoreKey, _ number: Int64, _ connection: Connection
        ) throws {
            let end = DispatchTime.now() + .seconds(Self.closingSeconds)
            let openings = Query(
                """
                SELECT count(*) FROM openings o
                WHERE o.store = $1 AND o.process <> $2 AND \(LivingProcesses.lives("o.process"))
                """, .number(number), .bytes(process))
            while try connection.run([openings])[0].number(0, 0) > 0 {
                guard DispatchTime.now() < end else {
                    throw CopyRefusal(
                        "other servers have \(key.container.name) open and do not close it: ask again, or stop "
                            + "all but one")
                }
                usleep(Self.lookMicroseconds)
            }
        }
    }
#endif
