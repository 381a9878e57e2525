#if PostgreSQL
    import GroupCommit
    import Storage

    // The numbers that a group gives out; the counter has them with its commit.
    extension StoreGroups {
        /// Takes positions that follow each other; the first of them.
        func takePositions(_ count: Int) throws -> Position {
            guard count > 0, Position(count) <= Self.positionMax - next + 1 else {
                throw StorageFailure.full
            }
            defer { next += Position(count) }
            return next
        }

        func take(_ kind: WritableKeyPath<NextNumbers, Int64>) throws -> Int64 {
            guard let taken = progress?.next.take(kind) else { throw WriterError.closed }
            return taken
        }

        func moveSchema() throws -> Revision { try move(\.schemaRevision) }

        func moveFollowers() throws -> Revision { try move(\.followerRevision) }

        private func move(_ number: WritableKeyPath<Progress, Int64>) throws -> Revision {
            guard var moved = progress else { throw WriterError.closed }
            moved[keyPath: number] += 1
            progress = moved
            return moved.revision(number)
        }

        func moveSubscriptions() { progress?.subscriptionRevision += 1 }

        func moveIndexes() throws -> Revision { try move(\.indexRevision) }

        /// The last position that the store has taken, the group's own included.
        var reached: Position {
            next > groupFirst ? next - 1 : progress?.lastPosition ?? 0
        }
    }
#endif
