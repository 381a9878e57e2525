import Awaiting
import Foundation
import Testing

/// Accounts as people and operators use them, on a server that runs.
@Suite("People sign in, and operators let them in")
struct PeopleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private struct Visitor: CurlBrowser {
        let server: ServerProcess
        let jar: String

        func signIn(_ password: String) throws -> Int {
            try send("/sign-in", ["address": "ida@example.org", "password": password]).status
        }
    }

    private func visitor(_ server: ServerProcess, _ name: String = "jar") -> Visitor {
        Visitor(server: server, jar: folder.path(name))
    }

    private let cheap = ["LENTICULAR_ACCOUNTS_PASSWORD_COST_BITS": "10"]

    @Test("A password from the command line signs in; a new one signs everybody out")
    func password() throws {
        let server = try ServerProcess(data: folder.path("data"), environment: cheap)
        #expect(
            try server.command(
                "user", "create", "ida@example.org", "--given-name", "Ida", "--password-stdin",
                input: "correct horse\n"
            ).status == 0)
        let ida = visitor(server)
        #expect(try ida.signIn("wrong horse") == 403)
        #expect(try ida.signIn("correct horse") == 303)
        #expect(try ida.get("/account").body.contains("<strong>Ida</strong>"))
        #expect(try server.command("user", "password", "ida@example.org").status == 2)
        let set = try server.command(
            "user", "password", "ida@example.org", "--password-stdin", input: "battery staple\n")
        #expect(set.status == 0, "\(set.error)")
        #expect(try ida.get("/account").status == 303)
        #expect(try ida.signIn("correct horse") == 403)
        #expect(try ida.signIn("battery staple") == 303)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let log = server.log().joined(separator: "\n")
        #expect(log.contains("\"page\":\"account\"") || log.contains("page=account"))
        for secret in ["correct horse", "battery staple", "ida@example.org", "lenticular-session"] {
            #expect(!log.contains(secret), "\(secret)")
        }
    }

    @Test("An invited person makes their account by the link, once")
    func invitation() throws {
        let server = try ServerProcess(data: folder.path("data"), environment: cheap)
        let invited = try server.command("user", "invite", "noor@example.org", "--json")
        let link = try #require(invited.object["link"] as? String)
        let start = try #require(link.range(of: "/sign-in/welcome/"))
        let path = String(link[start.lowerBound...])
        let noor = visitor(server)
        #expect(
            try noor.send(path, ["given": "Noor", "password": "a new password"]).status == 303)
        #expect(try noor.get("/account").body.contains("Noor"))
        #expect(try noor.get(path).status == 404)
        let again = try server.command("user", "invite", "noor@example.org")
        #expect(again.status == 1 && again.error.contains("belongs to another user"))
    }

    /// A mail program that writes what it is given into a pipe, and the end of that to read from.
    private func mailProgram() throws -> (script: String, end: Int32) {
        let (pipe, script) = (folder.path("letters"), folder.path("mail.sh"))
        #expect(mkfifo(pipe, 0o600) == 0)
        try "#!/bin/sh\n{ echo \"arguments: $*\"; cat; } > '\(pipe)'\n".write(
            toFile: script, atomically: true, encoding: .utf8)
        #expect(chmod(script, 0o700) == 0)
        return (script, open(pipe, O_RDONLY | O_NONBLOCK))
    }

    @Test("Mail arrives while a provider of text messages says nothing to one after the other")
    func lanes() throws {
        let (script, end) = try mailProgram()
        defer { close(end) }
        let silent = try SilentReceiver()
        let server = try ServerProcess(
            data: folder.path("data"),
            environment: cheap.merging([
                "LENTICULAR_MAIL_SENDER": "program", "LENTICULAR_MAIL_PROGRAM": script,
                "LENTICULAR_TEXT_MESSAGES_SENDER": "webhook",
                "LENTICULAR_TEXT_MESSAGES_URL": "http://127.0.0.1:\(silent.port)/",
                "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1",
            ]) { $1 })
        // Ten seconds each: together longer than anybody here waits for the mail.
        for number in 0...(Int(Wait.seconds) / 10) {
            let invited = try server.command("user", "invite", "+49 171 \(2_345_670 + number)")
            #expect(invited.status == 0, "\(invited.error)")
        }
        try silent.waitForSomebody()
        _ = try server.command("user", "invite", "noor@example.org")
        #expect(try Self.readToEnd(of: end).contains("To: noor@example.org\n"))
    }

    @Test("A program gets letters with the address in their head, not in its arguments")
    func program() throws {
        let (script, end) = try mailProgram()
        defer { close(end) }
        let server = try ServerProcess(
            data: folder.path("data"),
            environment: cheap.merging([
                "LENTICULAR_MAIL_SENDER": "program", "LENTICULAR_MAIL_PROGRAM": script,
                "LENTICULAR_MAIL_FROM": "sync@example.org",
            ]) { $1 })
        let invited = try server.command("user", "invite", "noor@example.org", "--json")
        #expect(invited.object["sent"] as? Bool == true && invited.object["link"] == nil)
        let letter = try Self.readToEnd(of: end)
        #expect(
            letter.hasPrefix("arguments: -i -t\nFrom: sync@example.org\nTo: noor@example.org\n"))
        let start = try #require(letter.range(of: "/sign-in/welcome/"))
        let path = letter[start.lowerBound...].prefix { !$0.isWhitespace }
        #expect(try visitor(server).get(String(path)).status == 200)
    }

    /// What somebody writes into a pipe, from when they do until they close it.
    private static func readToEnd(of pipe: Int32) throws -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            var watched = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            try #require(poll(&watched, 1, Int32(Wait.seconds) * 1_000) > 0, "no letter came")
            let count = read(pipe, &piece, piece.count)
            if count > 0 { bytes += piece[..<count] }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        }
    }

    @Test("Somebody who came from an app is named by the ID of their account")
    func accountID() throws {
        let server = try ServerProcess(data: folder.path("data"), environment: cheap)
        let made = try server.command("user", "create", "ida@example.org", "--json")
        let id = try #require(made.object["accountID"] as? String)
        #expect(try server.command("user", "delete", id, "--yes").status == 0)
        #expect(try server.command("user", "list").output.contains("ida") == false)
        #expect(try server.command("user", "delete", id, "--yes").status == 1)
    }
}
