import Foundation
import Testing

@testable import Commands
@testable import Server

@Suite("Commands as processes")
struct CommandProcessTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String..., input: String = "") throws -> Program.Outcome {
        try Program.run(arguments + ["--data", data], input: input)
    }

    @Test("A command line that asks for nothing known ends with 2 and one line of complaint")
    func usage() throws {
        for arguments in [
            [], ["nonsense"], ["container"], ["version", "--nope"], ["container", "set", "a"],
        ] {
            let outcome = try Program.run(arguments)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.hasSuffix("\n"))
            #expect(outcome.error.split(separator: "\n").count == 1)
        }
    }

    @Test("A command that cannot do its work ends with 1, one line and no output")
    func failure() throws {
        try ServerProcess.makeData(data)
        #expect(try run("container", "create", "iCloud.a").status == 0)
        let again = try run("container", "create", "ICLOUD.A", "--json")
        #expect(again.status == 1)
        #expect(again.output.isEmpty)
        #expect(again.error == "lenticular: a container of that name exists\n")
    }

    @Test("Help is printed on standard output, for every command")
    func help() throws {
        for command in Command.all {
            let outcome = try Program.run(command.words + ["--help"])
            #expect(outcome.status == 0)
            #expect(outcome.error.isEmpty)
            #expect(outcome.output.hasPrefix("usage: lenticular \(command.name)"))
        }
    }

    @Test("Containers are made, listed, changed and deleted")
    func containers() throws {
        try ServerProcess.makeData(data)
        #expect(
            try run("container", "create", "iCloud.b", "--json").output
                == "{\"container\":\"iCloud.b\"}\n")
        #expect(try run("container", "create", "iCloud.A").output == "container iCloud.A made\n")
        let list = try run("container", "list", "--json")
        #expect(list.object["container"] as? [String] == ["iCloud.A", "iCloud.b"])
        let known = list.object["containers"] as? [[String: Any]] ?? []
        #expect(known.map { $0["container"] as? String } == ["iCloud.A", "iCloud.b"])
        #expect(known.allSatisfy { $0["made"] as? Int ?? 0 > 0 && $0["settings"] != nil })
        #expect(
            try run("container", "set", "icloud.a", "fallbackURL=https://a.example/x?y=z").status
                == 0)
        #expect(
            try run("container", "list").output
                == "iCloud.A  fallbackURL=https://a.example/x?y=z\niCloud.b\n")
        #expect(try run("container", "set", "iCloud.A", "fallbackURL=").status == 0)
        #expect(try run("container", "list").output == "iCloud.A\niCloud.b\n")
        #expect(try run("container", "set", "iCloud.A", "other=1").status == 1)
        let refused = try run("container", "set", "iCloud.A", "website=a.example")
        #expect(refused.error == "lenticular: website takes an http or https URL\n")
        #expect(try run("container", "set", "iCloud.none", "fallbackURL=").status == 1)
        let asked = try run("container", "delete", "iCloud.A")
        #expect(asked.status == 1)
        #expect(
            asked.error == "lenticular: container delete needs --yes where nobody can be asked\n")
        #expect(try run("container", "delete", "iCloud.A", "--yes").status == 0)
        #expect(try run("container", "delete", "iCloud.A", "--yes").status == 1)
        #expect(
            try run("container", "list", "--json").object["container"] as? [String] == ["iCloud.b"])
    }

    @Test("The data folder is for its owner alone, with everything in it")
    func modes() throws {
        try ServerProcess.makeData(data)
        #expect(try run("container", "create", "iCloud.a").status == 0)
        func mode(_ path: String) throws -> Int? {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return (attributes[.posixPermissions] as? NSNumber)?.intValue
        }
        #expect(try mode(data) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: data) {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(data)/\(name)", isDirectory: &isFolder)
            let wanted = isFolder.boolValue ? 0o700 : 0o600
            #expect(try mode("\(data)/\(name)") == wanted, "\(name)")
        }
    }
}
