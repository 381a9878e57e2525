import Testing

@testable import Configuration

@Suite("Where a PostgreSQL is")
struct PostgresAddressTests {
    @Test(
        "A URL with a password is refused, wherever it stands",
        arguments: [
            "postgresql://u:secret@db.example/app", "postgres://u:@db.example",
            "postgresql://db.example/app?password=x",
            "postgresql://db.example/app?a=b&pass%77ord=x",
            "postgresql:///app?sslpassword=x",
        ])
    func passwords(url: String) {
        #expect(PostgresAddress(url) == nil)
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration.load(
                file: nil, environment: [:], flags: [("storage.postgresURL", url)])
        }
    }

    @Test(
        "What is no such URL is refused",
        arguments: ["db.example", "host=/run dbname=app", "http://db.example", "postgresql://a b"])
    func others(url: String) { #expect(PostgresAddress(url) == nil) }

    @Test(
        "Sockets and loopback addresses are this machine's, and nothing else is",
        arguments: [
            ("postgresql:///app?host=/run/postgresql", true),
            ("postgresql://u@%2Frun%2Fpostgresql:5433/app", true),
            ("postgresql://localhost/app", true), ("postgresql://127.0.0.1:5433/app", true),
            ("postgresql://u@[::1]:5432/app", true),
            ("postgresql://127.0.0.1,localhost:5433/app", true),
            ("postgresql://db.example/app", false), ("postgresql://127.example/app", false),
            ("postgresql://localhost,db.example/app", false),
            ("postgresql://localhost/app?hostaddr=10.0.0.1", false),
            ("postgresql://localhost/app?h%6Fst=db.example", false), ("postgresql:///app", false),
        ])
    func local(url: String, isLocal: Bool) throws {
        let address = try #require(PostgresAddress(url))
        #expect(address.isLocal == isLocal)
        #expect(!address.place.contains("?"))
    }

    @Test("The engine needs an address")
    func address() {
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration.load(
                file: nil, environment: ["LENTICULAR_STORAGE_ENGINE": "postgres"], flags: [])
        }
    }
}
