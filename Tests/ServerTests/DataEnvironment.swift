import Foundation
import Synchronization

#if PostgreSQL
    import PostgreSQL
    import PostgreSQLServer
#endif

/// The settings by which servers and commands reach the data of a folder, on the engine that the variable TEST_ENGINE
/// names.
enum DataEnvironment {
    struct IsUnknown: Error {
        let engine: String
    }

    private static let known = Mutex<[String: [String: String]]>([:])

    /// Empty where the variable names none: then the folder has its data.
    static func of(_ data: String) throws -> [String: String] {
        guard let engine = ProcessInfo.processInfo.environment["TEST_ENGINE"] else { return [:] }
        return try known.withLock { known in
            if let settings = known[data] { return settings }
            let settings = try make(engine)
            known[data] = settings
            return settings
        }
    }

    /// That of the folder that a command is given; empty where it is given none.
    static func of(command words: [String]) throws -> [String: String] {
        guard let option = words.firstIndex(of: "--data"), option + 1 < words.count else {
            return [:]
        }
        return try of(words[option + 1])
    }

    private static func make(_ engine: String) throws -> [String: String] {
        #if PostgreSQL
            if engine == "postgres" {
                let server = try PostgreSQLServer.shared()
                return try PostgresServingTests.environment(
                    of: server.newDatabaseName(), on: server)
            }
        #endif
        throw IsUnknown(engine: engine)
    }
}
