import ChildProcesses
import Foundation
import Testing

/// What the program prints for shells and for man.
@Suite("Completion and manual")
struct CommandShellTests {
    /// What bash offers after a line's words.
    private func offered(_ words: [String]) throws -> [String] {
        let script = try Program.run(["completion", "bash"]).output
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        let bash = ChildProcess()
        bash.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        bash.arguments = [
            "bash", "-c",
            script + "\nCOMP_WORDS=(lenticular \(line))\nCOMP_CWORD=\(words.count)\n_lenticular\n"
                + "printf '%s\\n' \"${COMPREPLY[@]}\"",
        ]
        let output = Pipe()
        bash.standardOutput = output
        try bash.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        bash.waitUntilExit()
        return text.split(separator: "\n").map(String.init)
    }

    @Test("bash is offered commands, their further words, and the options of a whole command")
    func bash() throws {
        #expect(try offered(["cont"]) == ["container"])
        let containers = try offered(["container", ""])
        #expect(containers.contains("create") && containers.contains("delete"))
        #expect(!containers.contains("serve"))
        #expect(try offered(["user", "create", "ann@a.example", "--giv"]) == ["--given-name"])
        #expect(try offered(["--json", "api-t"]) == ["api-token"])
        #expect(try offered(["backup", "--ver"]) == ["--verify"])
        for shell in ["zsh", "fish"] {
            let script = try Program.run(["completion", shell]).output
            #expect(script.contains("given-name") && script.contains("api-token"), "\(shell)")
        }
        #expect(try Program.run(["completion", "csh"]).status == 2)
    }

    @Test("The manual page names every command and has no line that roff would take for its own")
    func manual() throws {
        let page = try Program.run(["manual"]).output
        let help = try Program.run(["--help"]).output
        for line in help.split(separator: "\n") where line.hasPrefix("  ") && !line.hasPrefix("   ")
        {
            let word = line.split(separator: " ").first.map(String.init) ?? ""
            #expect(page.contains(".SS \(word.replacing("-", with: "\\-"))"), "\(word)")
        }
        let requests = Set([".TH", ".SH", ".SS", ".TP", ".B", ".I"])
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }
}
