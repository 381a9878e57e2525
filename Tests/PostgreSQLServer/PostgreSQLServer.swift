#if PostgreSQL
    import ChildProcesses
    import Foundation
    import Synchronization

    /// A PostgreSQL of a test's own, in a temporary folder, reached by a socket there; gone with the test's process.
    ///
    /// PostgreSQL refuses to run as root: then the user `postgres` runs it.
    package final class PostgreSQLServer: Sendable {
        package struct DidNotStart: Error, CustomStringConvertible {
            package let description: String
        }

        /// Of the socket, and of all of its files.
        package let folder: String
        private let process: ChildProcess
        private let commands: FileHandle
        private let answers: FileHandle
        private let turn = Mutex(())
        private let databases = Atomic(0)

        /// One for all tests of a process that do not end it; it does not wait for the disk.
        ///
        /// With TEST_POSTGRES_STANDBY=1 each of its commits waits for a standby.
        package static func shared() throws -> PostgreSQLServer {
            try one.withLock { server in
                if let server { return server }
                let made = try PostgreSQLServer(waitsForDisk: false)
                if ProcessInfo.processInfo.environment["TEST_POSTGRES_STANDBY"] == "1" {
                    try made.addStandby()
                    try made.waitForStandby()
                }
                server = made
                return made
            }
        }

        private static let one = Mutex<PostgreSQLServer?>(nil)

        /// - Parameters:
        ///   - waitsForDisk: whether what it acknowledges outlives the machine, as it always should.
        ///   - certified: a name and a port: it also answers there on 127.0.0.1, by TLS, with a certificate of that name
        ///     in `certificate`.
        package init(
            waitsForDisk: Bool = true, certified: (name: String, port: Int)? = nil
        ) throws {
            // Where root's temporary folder is its own, the user that root runs it as may not enter it.
            folder =
                (geteuid() == 0 ? "/tmp/" : NSTemporaryDirectory())
                + "pg-\(UUID().uuidString.prefix(13))"
            process = ChildProcess()
            process.arguments = [
                "bash", "-c", Self.script, "bash", folder, waitsForDisk ? "on" : "off",
                certified?.name ?? "", certified.map { String($0.port) } ?? "",
            ]
            process.secondsMax = 36_000
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            commands = input.fileHandleForWriting
            answers = output.fileHandleForReading
            try process.run()
            try expectReady()
        }

        deinit {
            // The script ends the server once nobody can send it a command.
            try? commands.close()
            process.waitUntilExit()
        }

        /// The file of its certificate, which is its own authority.
        package var certificate: String { "\(folder)/data/server.crt" }

        /// How to reach one of its databases.
        package func address(of database: String) -> String {
            "host=\(folder) dbname=\(database) user=postgres"
        }

        /// A name that no other database of it has.
        package func newDatabaseName() -> String {
            "test\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
        }

        /// Ends it as a machine does that stops, and starts it again.
        package func crash() throws { try ask("crash") }

        /// Ends it until `start`.
        package func stop() throws { try ask("stop") }

        package func start() throws { try ask("start") }

        /// Begins a standby, which follows without being waited for; at most one.
        package func addStandby() throws { try ask("standby") }

        /// Has every commit wait for the standby from now on.
        package func waitForStandby() throws { try ask("wait-for-standby") }

        /// Ends the standby as a machine does that stops.
        package func stopStandby() throws { try ask("stop-standby") }

        /// Has the standby take writes, and follow nobody.
        package func promoteStandby() throws { try ask("promote-standby") }

        /// How to reach one of the standby's databases.
        package func standbyAddress(of database: String) -> String {
            "host=\(folder)/standby-socket dbname=\(database) user=postgres"
        }

        /// Has the script do something, and waits until it is done.
        private func ask(_ command: String) throws {
            try turn.withLock { _ in
                try commands.write(contentsOf: Data("\(command)\n".utf8))
                try expectReady()
            }
        }

        private func expectReady() throws {
            var line: [UInt8] = []
            while let byte = try answers.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
            let words = String(decoding: line, as: UTF8.self)
            guard words == "ready" else {
                throw DidNotStart(description: "PostgreSQL did not start: \(words)")
            }
        }

        private static let script = """
            folder=$1 fsync=$2 name=$3 port=$4
            trap '' INT TERM HUP
            programs=$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
            programs=$(dirname "$(readlink -f "$programs")")
            if [ "$(id -u)" = 0 ]; then
                as=(runuser -u postgres --)
                install -d -m 700 -o postgres "$folder"
            else
                as=()
                install -d -m 700 "$folder"
            fi
            cd "$folder" || exit 1
            control() {
                "${as[@]}" "$programs/pg_ctl" -D "$folder/data" -w -t 600 -s -l "$folder/log" "$@" \\
                    </dev/null >&2
            }
            begin() {
                control -o "-k $folder $listening -c max_connections=500 -c fsync=$fsync \\
                    -c shared_buffers=64MB -c autovacuum_naptime=1s \\
                    -c shared_preload_libraries=pg_stat_statements" start && echo ready || echo failed
            }
            "${as[@]}" "$programs/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C -N \\
                </dev/null >"$folder/made" 2>&1 || { tail -n 1 "$folder/made"; exit 1; }
            listening="-c listen_addresses="
            if [ -n "$name" ]; then
                "${as[@]}" openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$name" \\
                    -addext "subjectAltName=DNS:$name" -keyout "$folder/data/server.key" \\
                    -out "$folder/data/server.crt" </dev/null >&2 2>/dev/null || { echo "no certificate"; exit 1; }
                listening="-c listen_addresses=127.0.0.1 -c port=$port -c ssl=on"
            fi
            begin
            standby() {
                "${as[@]}" "$programs/pg_basebackup" -h "$folder" -U postgres -D "$folder/standby" -R -c fast \\
                    -X stream </dev/null >&2 && "${as[@]}" mkdir "$folder/standby-socket" &&
                    "${as[@]}" "$programs/pg_ctl" -D "$folder/standby" -w -t 600 -s -l "$folder/standby-log" \\
                        -o "-k $folder/standby-socket -c listen_addresses= -c max_connections=500 -c fsync=$fsync" \\
                        start </dev/null >&2 && echo ready || echo failed
            }
            ask() { "${as[@]}" "$programs/psql" -h "$folder" -U postgres -Atqc "$1" </dev/null; }
            wait_for_standby() {
                ask "ALTER SYSTEM SET synchronous_standby_names = '*'" >&2 && ask "SELECT pg_reload_conf()" >&2 &&
                    for _ in $(seq 1200); do
                        [ "$(ask "SELECT sync_state FROM pg_stat_replication")" != sync ] || { echo ready; return; }
                        sleep 0.05
                    done
                echo failed
            }
            stop_standby() {
                "${as[@]}" "$programs/pg_ctl" -D "$folder/standby" -w -s -m immediate stop </dev/null >&2
            }
            promote_standby() {
                "${as[@]}" "$programs/pg_ctl" -D "$folder/standby" -w -t 600 -s promote </dev/null >&2 &&
                    echo ready || echo failed
            }
            while read -r command; do
                case $command in
                standby) standby ;;
                wait-for-standby) wait_for_standby ;;
                stop-standby) stop_standby; echo ready ;;
                promote-standby) promote_standby ;;
                crash) control -m immediate stop; begin ;;
                stop) control -m immediate stop; echo ready ;;
                start) begin ;;
                esac
            done
            [ ! -d "$folder/standby" ] || stop_standby
            control -m immediate stop
            rm -rf "$folder"
            """
    }
#endif
