import Server

extension Command {
    static let version = Command(
        "version", "print the version",
        action: .local { _, _ in
            CommandOutput(
                "lenticular \(ProgramVersion.text)",
                values: [("version", .text(ProgramVersion.text))])
        })
}
