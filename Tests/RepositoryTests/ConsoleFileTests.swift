import Cryptography
import Foundation
import Testing

@Suite("The console's files")
struct ConsoleFileTests {
    @Test("Every file of the console is compiled in, and every file that one loads is there")
    func files() throws {
        let embedding = try #require(Repository.text("Sources/System/CConsole/CConsole.c"))
        let names = Repository.files(under: "Console", endingIn: [".js", ".css"])
            .map { String($0.dropFirst("Console/".count)) }
        #expect(names.count > 5)
        let loads = try Regex("(from|import\\(?) ?'\\./([^']+)'")
        for name in names {
            #expect(embedding.contains("#embed \"../../../Console/\(name)\""), "\(name)")
            #expect(embedding.contains("{\"\(name)\","), "\(name)")
            for found in (Repository.text("Console/\(name)") ?? "").matches(of: loads) {
                let loaded = String(found.output[2].substring ?? "")
                #expect(embedding.contains("{\"\(loaded)\","), "\(name) loads \(loaded)")
            }
        }
    }

    /// Debian goes on, so another version than the tested one is no failure.
    @Test(
        "The console's libraries are those that it was tested with, or the test says which are not")
    func libraries() throws {
        let lines = (Repository.text("Console/libraries.sha256") ?? "").split(separator: "\n")
        #expect(lines.count == 3)
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 2)
            let path = "/usr/share/nodejs/\(words[1])"
            guard let bytes = FileManager.default.contents(atPath: path) else {
                print("# \(path) is not here: .ci/console-libraries gets it")
                continue
            }
            let digest = SHA256.digest(Array(bytes)).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            if digest != words[0] { print("# \(path) is not the file that was tested: \(digest)") }
        }
    }
}
