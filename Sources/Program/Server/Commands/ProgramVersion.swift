/// The version of this program.
package enum ProgramVersion {
    package static let text = "0.1.0"
}

extension Command {
    static let version = Command(
        "version", "print the version",
        action: .local { _, _ in
            CommandOutput(
                "lenticular \(ProgramVersion.text)",
                values: [("version", .text(ProgramVersion.text))])
        })
}
