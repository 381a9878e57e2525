#if PostgreSQL
    import Storage

    extension Store {
        /// Reads to the end; an index that the read lacks is made first.
        func readWithIndexes<Value>(
            _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            while true {
                do { return try read(body) } catch let missing as QueryUnprepared {
                    _ = try prepare(missing.query)
                    while try maintainOnce() {}
                    _ = try maintain(while: { true })
                }
            }
        }

        /// - Returns: whether there was something to do.
        private func maintainOnce() throws -> Bool {
            try writeAndWait { transaction in
                var turn = WorkTurn(WorkHolder(1), [.maintenance])
                guard let work = try transaction.takeWork(&turn),
                    case .maintenance(let maintenance) = work.task
                else { return false }
                if try !transaction.maintain(maintenance, step: 64) {
                    try transaction.finish(work)
                }
                return true
            }
        }
    }
#endif
