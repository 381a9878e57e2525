#if PostgreSQL
    import Configuration
    import Foundation
    import Network
    import PostgreSQL
    import PostgreSQLServer
    import Testing

    @testable import Server

    @Suite("The certificate of a PostgreSQL elsewhere")
    struct PostgresCertificateTests {
        /// Connects as a server does whose settings name a host.
        private func connect(
            _ host: String, _ more: String, to port: Int
        ) throws -> Connection {
            let url = "postgresql://postgres@\(host):\(port)/postgres?hostaddr=127.0.0.1\(more)"
            let values = try LoadedConfiguration(
                file: nil,
                environment: [
                    "LENTICULAR_STORAGE_ENGINE": "postgres",
                    "LENTICULAR_STORAGE_POSTGRES_URL": url,
                ], flags: []
            ).values
            return try Connection(values.postgresSettings().connection)
        }

        /// A port that nobody has at this moment.
        private static func freePort() throws -> Int {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            try withUnsafeMutablePointer(to: &address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    try #require(bind(descriptor, $0, length) == 0)
                    try #require(getsockname(descriptor, $0, &length) == 0)
                }
            }
            return Int(UInt16(bigEndian: address.sin_port))
        }

        @Test("It ends a session, with what that holds, once the network has lost the client")
        func lostClients() throws {
            let port = try Self.freePort()
            let database = try PostgreSQLServer(
                waitsForDisk: false, certified: ("db.example", port))
            let session = try connect(
                "db.example", "&sslrootcert=\(database.certificate)", to: port)
            // As its socket has them: twice `storage.postgres.answerSecondsMax`, with three looks in the second half.
            let limits = [
                "tcp_user_timeout": "60000", "tcp_keepalives_idle": "30",
                "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
            ]
            for (name, value) in limits {
                let found = try session.run(
                    "SELECT convert_to(setting, 'UTF8') FROM pg_settings WHERE name = '\(name)'")
                #expect(found.text(0, 0) == value, "\(name)")
            }
        }

        @Test("Its name and its authority are checked, unless the URL says otherwise")
        func checked() throws {
            let port = try Self.freePort()
            let database = try PostgreSQLServer(
                waitsForDisk: false, certified: ("db.example", port))
            let root = "&sslrootcert=\(database.certificate)"
            let named = try connect("db.example", root, to: port)
            let encrypted = try named.run(
                "SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl")
            #expect(encrypted.number(0, 0) == 1)
            // Another name, and nobody's authority.
            for (host, more) in [("other.example", root), ("db.example", "&sslrootcert=/nowhere")] {
                let error = #expect(throws: PostgreSQLError.self) {
                    try connect(host, more, to: port)
                }
                #expect("\(error as Any)".contains("cert"), "\(error as Any)")
            }
            for more in ["&sslmode=require", "&sslmode=verify-ca\(root)"] {
                _ = try connect("other.example", more, to: port)
            }
        }
    }
#endif
