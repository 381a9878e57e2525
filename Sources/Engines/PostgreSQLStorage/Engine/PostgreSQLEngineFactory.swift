#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// Keeps an engine's data in a database, which is one server's alone.
    package struct PostgreSQLEngineFactory: EngineFactory {
        private let settings: PostgreSQLEngine.Settings
        private let random: @Sendable (Int) -> [UInt8]
        private let place: String

        /// - Parameter place: what operators call the database; without a password.
        package init(
            _ settings: PostgreSQLEngine.Settings, place: String,
            random: @escaping @Sendable (Int) -> [UInt8]
        ) {
            self.settings = settings
            self.place = place
            self.random = random
        }

        package var words: EngineWords {
            EngineWords(catalog: "catalog.rows", store: "store.rows") { [place] part in
                switch part {
                case .catalog: "the catalog in \(place)"
                case .store(let key):
                    "the store of \(key.container.name) \(key.environment.rawValue) in \(place)"
                }
            }
        }

        package func hasData() throws -> Bool {
            do {
                return try PostgreSQLCatalog.isThere(
                    Connection(PostgreSQLCatalog.options(settings.connection)))
            } catch let error as PostgreSQLError {
                throw error.failure
            }
        }

        package func open(_ options: EngineOptions) throws -> any StorageEngine {
            do { return try PostgreSQLEngine(settings, options) } catch let error as PostgreSQLError
            {
                throw error.failure
            }
        }

        package func restore(
            _ part: EnginePart,
            from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void,
            assets visit: (ReferencedAsset) throws -> Void
        ) throws {
            do {
                let restoring = try PartRestoring(part, settings.connection, random: random)
                try restoring.restore(from: write, assets: visit)
            } catch let error as PostgreSQLError {
                throw error.failure
            }
        }
    }
#endif
