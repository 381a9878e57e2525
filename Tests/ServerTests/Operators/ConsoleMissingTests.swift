import CConsole
import ChildProcesses
import Foundation
import Testing

@testable import Pages
@testable import Server

@Suite("A console without its libraries")
struct ConsoleMissingTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/System/CConsole")

    /// The files of a build that found no libraries: the same source, compiled without a folder of them.
    private func build(in folder: TemporaryFolder) throws -> lenticular_console_files {
        let made = folder.path("console.so")
        let compiler = ChildProcess()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-std=c23", "-shared", "-fPIC", "-o", made,
            Self.sources.appendingPathComponent("CConsole.c").path,
            "-I", Self.sources.appendingPathComponent("include").path,
        ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        let library = try #require(dlopen(made, RTLD_NOW | RTLD_LOCAL))
        let symbol = try #require(dlsym(library, "lenticular_console_files"))
        typealias Files = @convention(c) () -> lenticular_console_files
        return unsafeBitCast(symbol, to: Files.self)()
    }

    @Test("It is built all the same, and every page of it says what to install")
    func missing() throws {
        let folder = try TemporaryFolder()
        let found = try build(in: folder)
        #expect(found.hasLibraries == 0)
        let pages = ConsolePages(
            mark: ServiceMark(name: "<b>Ours</b>"), baseURL: "https://a.example", found)
        for path in ["/console/", "/console/data"] {
            let response = try #require(pages.response(at: path, takesGzip: false))
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == 200)
            #expect(text.contains("<h1>The console is not in this build</h1>"))
            for word in [".ci/console-libraries", "CONSOLE_LIBRARIES", "lit/lit-core.min.js"] {
                #expect(text.contains(word), "\(word)")
            }
            #expect(!text.contains("<script") && !text.contains("<b>Ours</b>"))
            // What the page itself loads is there.
            for link in text.split(separator: "\"") where link.hasPrefix("/console/files/") {
                #expect(pages.response(at: String(link), takesGzip: false)?.status == 200)
            }
        }
    }
}
