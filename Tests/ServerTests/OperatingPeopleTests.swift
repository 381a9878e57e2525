import Foundation
import Testing

/// What people see who start a server by hand.
@Suite("A server and the people who run it")
struct OperatingPeopleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a command on a terminal, whose output it hands on.
    private static let terminal = """
        import os, pty, signal, sys
        child, side = pty.fork()
        if child == 0:
            os.execv(sys.argv[1], sys.argv[1:])
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        try:
            while piece := os.read(side, 65536):
                os.write(1, piece)
        except OSError:
            pass
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    @Test("On a terminal the log is text for people, elsewhere it is JSON")
    func terminal() throws {
        let shown = try ServerProcess(
            data: folder.path("data"),
            under: ["/usr/bin/env", "python3", "-c", Self.terminal])
        #expect(shown.address.hasPrefix("127.0.0.1:"))
        shown.signal(SIGTERM)
        #expect(shown.wait() == 0)
        let lines = shown.log()
        #expect(lines.contains { $0.contains(" serving ") && $0.contains(" listen=127.0.0.1:") })
        #expect(!lines.contains { $0.contains("{") }, "\(lines)")
        // Whoever reads it through a pipe is a program.
        let piped = try ServerProcess(data: folder.path("other"))
        piped.signal(SIGTERM)
        #expect(piped.wait() == 0)
        // What is shown once goes to standard error.
        let log = piped.log().filter {
            !$0.hasPrefix("no operator yet") && !$0.contains("/sign-in/first#")
        }
        #expect(log.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }

    @Test(
        "A folder of another owner, or of a wrong mode, is refused with what to run",
        .enabled(if: geteuid() == 0))
    func access() throws {
        let data = folder.path("data")
        try ServerProcess.makeData(data)
        // Who is nobody cannot reach the build's own folder everywhere.
        let program = folder.path("lenticular")
        try FileManager.default.copyItem(atPath: Program.url.path, toPath: program)
        let nobody: UInt32 = 65_534
        let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")
        let become = ["--reuid", "\(nobody)", "--clear-groups"]
        /// As nobody reads it: a number where the names of users are not for everybody.
        func name(_ number: UInt32) throws -> String {
            let found = try Program.run(become + ["getent", "passwd", "\(number)"], by: setpriv)
            return found.output.split(separator: ":").first.map(String.init) ?? "\(number)"
        }
        let (user, root) = (try name(nobody), try name(0))
        func expect(_ reason: String, from line: Int = #line) throws {
            for command in [
                ["serve", "--listen", "127.0.0.1:0"], ["check"], ["container", "list"],
            ] {
                let outcome = try Program.run(
                    become + [program] + command + ["--data", data], by: setpriv)
                #expect(outcome.status == 1 && outcome.output.isEmpty, "line \(line)")
                #expect(outcome.error == "lenticular: \(reason)\n", "line \(line)")
            }
        }
        let given = "sudo chown -R \(user) \(data)"
        try expect(
            "\(data) belongs to \(root), and this runs as \(user); run it as its owner "
                + "(sudo -u \(root) lenticular …), or give the folder over: \(given)")
        #expect(chown(data, nobody, nobody) == 0)
        try expect(
            "\(data)/lock belongs to \(root), and this runs as \(user); run: \(given)")
        #expect(chmod(data, 0o500) == 0)
        try expect("the mode of \(data) keeps its owner out; run: chmod 700 \(data)")
        #expect(chmod(data, 0o700) == 0)
        for name in ["lock", "catalog.sqlite", "control.sock"] {
            chown("\(data)/\(name)", nobody, nobody)
        }
        #expect(chmod("\(data)/catalog.sqlite", 0o400) == 0)
        try expect(
            "the mode of \(data)/catalog.sqlite keeps its owner out; "
                + "run: chmod 600 \(data)/catalog.sqlite")
    }
}
