#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    /// What an engine does on sessions of its own, by a network that takes nothing any more and closes nothing.
    @Suite("A PostgreSQL server that falls silent in a short step of an engine")
    struct SilentStepTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey
        private let silencing: Silencing

        init() throws {
            let server = try PostgreSQLServer.shared()
            location = try PostgreSQLLocation(on: server)
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
            silencing = Silencing(try CuttingProxy(before: server), server)
        }

        /// Has the server fall silent when the engine next asks for something, once it is told to.
        private final class Silencing: Sendable {
            private let proxy: CuttingProxy
            private let folder: String
            private let moment = Mutex<Moment?>(nil)

            init(_ proxy: CuttingProxy, _ server: PostgreSQLServer) {
                self.proxy = proxy
                folder = server.folder
            }

            func begin(at moment: Moment) { self.moment.withLock { $0 = moment } }

            func end() { proxy.speak() }

            private func reach(_ reached: Moment) {
                let isDue = moment.withLock { moment in
                    guard moment == reached else { return false }
                    moment = nil
                    return true
                }
                if isDue { proxy.fallSilent() }
            }

            /// Leads by the proxy, and waits five seconds for an answer.
            func change(_ settings: inout PostgreSQLEngine.Settings) {
                settings.connection.address =
                    settings.connection.address.replacing(folder, with: proxy.folder)
                settings.connection.answerMillisecondsMax = 5_000
                settings.connection.connectSecondsMax = 5
            }

            func change(_ options: inout EngineOptions) {
                let (clock, random) = (options.clock, options.random)
                options.clock = Clock { [self] in
                    reach(.clock)
                    return clock.now()
                }
                options.random = { [self] count in
                    reach(.random)
                    return random(count)
                }
            }
        }

        /// What the engine asks for within a session that it has just begun.
        private enum Moment { case clock, random }

        enum Step: CaseIterable, Sendable {
            case opening, reset
        }

        @Test("Nobody waits for ever: the step fails in time", arguments: Step.allCases)
        func ends(_ step: Step) throws {
            defer { location.remove() }
            // So that nothing takes long later.
            let other = try location.engine()
            try other.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            _ = try other.open(key, notices: CommitNotices())
            _ = other.close(key, isUnused: true)
            let engine = try location.engine("a") {
                silencing.change(&$0)
            } settings: {
                silencing.change(&$0)
            }
            let told = Awaited<Result<Void, any Error>>()
            defer { silencing.end() }
            DispatchQueue.global().async { [key, silencing] in
                told.tell(
                    Result {
                        switch step {
                        case .opening:
                            silencing.begin(at: .clock)
                            _ = try engine.open(key, notices: CommitNotices())
                        case .reset:
                            silencing.begin(at: .random)
                            let beginning = StoreBeginning(
                                schema: Schema(), moment: 5, who: "test", difference: [])
                            try engine.reset(key, to: beginning)
                        }
                    })
            }
            let result = try told.value()
            #expect(throws: StorageFailure.self) { try result.get() }
        }
    }
#endif
