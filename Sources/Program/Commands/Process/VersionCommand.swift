import Server

extension Command {
    static let version = Command(
        "version", "print the version, and the commit that it was built from",
        action: .local { _, _ in
            let commit = ProgramVersion.commit
            return CommandOutput(
                "lenticular \(ProgramVersion.text)" + (commit.isEmpty ? "" : " (\(commit))"),
                values: [
                    ("version", .text(ProgramVersion.text)), ("commit", .text(commit)),
                ])
        })
}
