import Foundation
import Testing

@testable import Commands
@testable import Control
@testable import Server

@Suite("Commands and the data folder")
struct CommandDataFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> Program.Outcome {
        try Program.run(arguments, environment: environment, in: folder.root)
    }

    @Test("No command but serve and restore makes a data folder, wherever its path comes from")
    func noDataFolder() throws {
        try "{ data: '\(folder.path("filed"))' }".write(
            toFile: folder.path("settings"), atomically: true, encoding: .utf8)
        let commands = [
            ["backup", folder.path("copy")], ["check"], ["container", "create", "iCloud.a"],
            ["user", "list"],
        ]
        for command in commands {
            for (arguments, environment, words) in [
                ([], [:], "the default of data"),
                (["--data", folder.path("flagged")], [:], "data from command line"),
                (
                    [], ["LENTICULAR_DATA": folder.path("variable")],
                    "data from environment variable LENTICULAR_DATA"
                ),
                (
                    ["--config", folder.path("settings")], [:],
                    "data from \(folder.path("settings")), line 1, column 3"
                ),
            ] {
                let outcome = try run(command + arguments, environment)
                #expect(outcome.status == 1)
                #expect(outcome.output.isEmpty)
                #expect(outcome.error.contains(" is no data folder"), "\(outcome.error)")
                #expect(outcome.error.contains(words), "\(outcome.error)")
                #expect(outcome.error.split(separator: "\n").count == 1)
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.root)
        #expect(names == ["settings"])
    }

    @Test("A folder that is there and holds no data is refused as well, and stays as it is")
    func foreignFolder() throws {
        let foreign = folder.path("foreign")
        try FileManager.default.createDirectory(
            atPath: foreign, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        let outcome = try run(["check", "--data", foreign])
        #expect(outcome.error.contains("\(foreign) is no data folder: it has no catalog.sqlite"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: foreign).isEmpty)
        let attributes = try FileManager.default.attributesOfItem(atPath: foreign)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o755)
    }

    @Test("A running server keeps no part of the backup that it has sent")
    func nothingIsLeft() throws {
        let data = folder.path("data")
        let server = try ServerProcess(data: data)
        let left = "\(data)/\(CopyDestination.outgoingPrefix)0123456789abcdef"
        // As a process leaves it that is killed while it sends a copy.
        try FileManager.default.createDirectory(
            atPath: left, withIntermediateDirectories: true)
        #expect(
            try server.command("backup", folder.path("copy"), "--json").object["ok"] as? Bool
                == true)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let again = try ServerProcess(data: data)
        #expect(try again.command("backup", folder.path("second")).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(!names.contains { $0.hasPrefix(CopyDestination.outgoingPrefix) })
        for copy in ["copy", "second"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(copy))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
            #expect(try run(["check", "--data", folder.path(copy)]).output == "no problems\n")
        }
    }

    @Test("Files arrive whole, and none under a name that leads out of the folder")
    func receivedFiles() throws {
        let path = folder.path("copy")
        let made = try NewFolder(at: path)
        for frame in [
            ControlFrame.file(name: "one"), .piece([1, 2]), .piece([3]), .file(name: "a/b/empty"),
            .file(name: "a/two"), .piece([4]), .answer([]),
        ] {
            try made.receive(ControlFrame(frame.bytes))
        }
        for name in [
            "../x", "/etc/x", "a/../../x", "", "a//x", "./x", "a/", "x\0", "one",
            String(repeating: "d/", count: 20) + "x",
        ] {
            #expect(throws: CommandFailure.self, "\(name)") {
                try made.receive(.file(name: name))
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        try made.finish()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.root) == ["copy"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/one")) == Data([1, 2, 3]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/a/two")) == Data([4]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/a/b/empty")).isEmpty)
        #expect(throws: CommandFailure.self) { try NewFolder(at: path) }
    }

    @Test("What a killed backup has left goes with the next one beside it, whatever their names")
    func leftovers() throws {
        let files = FileManager.default
        func names() throws -> [String] {
            try files.contentsOfDirectory(atPath: folder.root).sorted()
        }
        // The lock goes with the process, and here with the object.
        do {
            let killed = try NewFolder(at: folder.path("monday"))
            try killed.receive(.file(name: "catalog.sqlite"))
        }
        let under = folder.path("under")
        let filled = try NewFolder(at: under)
        try files.createDirectory(
            atPath: folder.path("mine.partial/notes"), withIntermediateDirectories: true)
        #expect(try names() == ["mine.partial", "under.partial"])
        #expect(throws: CommandFailure.self) { try NewFolder(at: under) }
        #expect(throws: CommandFailure.self) { try NewFolder(at: folder.path("mine")) }
        let tuesday = try NewFolder(at: folder.path("tuesday"))
        try tuesday.receive(.file(name: "catalog.sqlite"))
        try tuesday.finish()
        try filled.finish()
        #expect(try names() == ["mine.partial", "tuesday", "under"])
        #expect(try files.contentsOfDirectory(atPath: folder.path("tuesday")) == ["catalog.sqlite"])
        #expect(try files.contentsOfDirectory(atPath: under).isEmpty)
        // One that was killed before it had its mark.
        try files.createDirectory(
            atPath: folder.path("old.partial"), withIntermediateDirectories: true)
        try NewFolder(at: folder.path("old")).discard()
        #expect(try names() == ["mine.partial", "tuesday", "under"])
    }

    #if os(Linux)
        @Test(
            "A lock that is given up is free at once, also where a process in the making has a copy"
        )
        func copiedLock() throws {
            var copies: [Int32] = []
            defer { for copy in copies { close(copy) } }
            do {
                let killed = try NewFolder(at: folder.path("monday"))
                copies = try copyDescriptors()
                #expect(!copies.isEmpty)
                withExtendedLifetime(killed) {}
            }
            try NewFolder(at: folder.path("monday")).discard()
        }

        /// Of what this test has open, as a child has them from its fork until it runs its program.
        private func copyDescriptors() throws -> [Int32] {
            let all = "/proc/self/fd"
            return try FileManager.default.contentsOfDirectory(atPath: all).compactMap { text in
                guard let number = Int32(text),
                    let path = try? FileManager.default.destinationOfSymbolicLink(
                        atPath: "\(all)/\(text)"),
                    path.hasPrefix(folder.root)
                else { return nil }
                return dup(number)
            }
        }
    #endif
}
