import Accounts
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Prints letters where the one who tries the server out sees them; never for a server of others.
struct PrintedLetters: LetterSender {
    func reaches(_ kind: Address.Kind) -> Bool { true }

    func send(_ text: LetterText, to address: Address) throws {
        let lines =
            [
                "",
                "  A \(address.kind == .email ? "letter" : "text message") to \(address.text): \(text.subject)",
                "",
            ]
            + text.body.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
        writeAll(Array((lines.joined(separator: "\n") + "\n\n").utf8), to: STDERR_FILENO)
    }
}
