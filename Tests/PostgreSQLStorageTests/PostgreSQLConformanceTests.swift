#if PostgreSQL
    import PostgreSQLStorage
    import StorageConformance
    import Testing

    @Suite("PostgreSQL keeps what every engine promises, as far as it is built")
    struct PostgreSQLConformanceTests {
        @Test("A promise", arguments: StoragePromise.all)
        func keeps(_ promise: StoragePromise) throws {
            guard NotBuiltPromises.all.contains(promise.description) else {
                return try promise.check(.postgreSQL)
            }
            // Nothing answers in the place of what is not there.
            do {
                try promise.check(.postgreSQL)
                Issue.record("this is built: take it out of the list of what is not")
            } catch is NotBuilt {} catch {
                // Where another failure was expected, the suite tells of the one that came.
                let told = "\(error)".contains("the engine on PostgreSQL has no ")
                #expect(told, "\(error)")
            }
        }

        @Test("What is not built is promised, and most of the rest of a store is")
        func list() {
            let all = Set(StoragePromise.all.map(\.description))
            #expect(NotBuiltPromises.all.subtracting(all) == [])
            #expect(all.count - NotBuiltPromises.all.count > 40)
        }
    }
#endif
