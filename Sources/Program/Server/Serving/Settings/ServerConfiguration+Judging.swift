import Configuration

extension ServerConfiguration {
    /// Refuses what a start refuses: files that cannot be used, settings that do not go together.
    ///
    /// `serve` asks it before all else, and `config check` nothing but it. What lies in the data folder and
    /// who has the addresses, only a start finds out.
    ///
    /// - Throws: `CommandFailure` that names the setting; for languages, the file and its line.
    package func requireUsable(in process: ProcessEnvironment) throws {
        _ = try engineFactory(for: data) { process.random.bytes($0) }
        _ = try makeTLS()
        _ = try phrasebooks()
        _ = try serviceMark()
        try LetterSenders(self, clock: process.clock, random: process.random).stop()
        _ = try AssetLocations(self, of: data, clock: process.clock, random: process.random)
        try SecretKeys.requireUsable(self)
        _ = try BackupTarget(of: self, clock: process.clock, random: process.random)
        try OutgoingTraffic(self).stop()
    }

    /// What is odd and stops nothing, a line each.
    package var oddities: [String] {
        guard accounts.signUp == .open, letterKinds.isEmpty else { return [] }
        return [
            "accounts.signUp is \"open\", but nothing carries the links by which people make accounts: "
                + "set mail.sender or textMessages.sender"
        ]
    }
}
