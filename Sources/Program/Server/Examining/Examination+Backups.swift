import Administration
import Backups
import CloudModel
import Configuration

extension Examination {
    /// A check that is made once a week is late after two.
    private static let checkDays: Milliseconds = 14
    private static let day: Milliseconds = 86_400_000

    /// Whether there are backups, where, how old, and whether they can be read without this machine.
    func backups() throws -> [Finding] {
        guard
            let target = try BackupTarget(
                of: configuration, clock: folder.clock, random: folder.random)
        else {
            return [
                .advice(
                    "backups", "the server makes none by itself",
                    remedy: "set backups.to to a folder on another disk, or to a bucket")
            ] + keys()
        }
        var found = keys()
        if target.isOnDisk(of: folder.path) {
            found.append(
                .advice(
                    "backups",
                    "\(target.name) is on the disk of the data: when it fails, both are lost",
                    remedy: "set backups.to to a folder on another disk, or to a bucket"))
        }
        if configuration.backups.keyFile.hasPrefix(target.name + "/") {
            found.append(
                .problem(
                    "backups", "the key that seals the backups lies among them",
                    remedy: "move \(configuration.backups.keyFile) elsewhere"))
        }
        do { found += try ages(of: target) } catch {
            found.append(
                .problem(
                    "backups", "\(target.name) cannot be read: \(error)",
                    remedy: "look at backups.to and s3.endpoint"))
        }
        return found
    }

    private func ages(of target: BackupTarget) throws -> [Finding] {
        guard try target.hasBackups() else { return [none(in: target)] }
        let repository = try target.open()
        guard let last = try repository.moments().last else { return [none(in: target)] }
        let now = folder.clock.now()
        let minutes = max(0, now - last) / 60_000
        var found: [Finding] = []
        if try !repository.isLast(FolderTurn.read(BackupTarget.turnName, in: folder.path)) {
            found.append(
                .problem(
                    "backups", "a copy of this data folder, or another one, made the last one",
                    remedy: "stop that server, or let it have another place for its backups"))
        }
        if minutes > 3 * Milliseconds(configuration.backups.everyMinutes) {
            found.append(
                .problem(
                    "backups", "the last one is \(minutes) minutes old",
                    remedy: "the server's log says why there is none since, or it does not run"))
        } else {
            found.append(.good("backups", "the last one is \(minutes) minutes old"))
        }
        guard let verified = try repository.verified(), now - verified < Self.checkDays * Self.day
        else {
            return found + [
                .advice(
                    "backups", "none was restored and checked in \(Self.checkDays) days",
                    remedy: "lenticular backup --verify \(target.name)")
            ]
        }
        return found + [
            .good("backups", "one was restored and checked \((now - verified) / Self.day) days ago")
        ]
    }

    private func none(in target: BackupTarget) -> Finding {
        .problem(
            "backups", "there is none in \(target.name) yet",
            remedy: "the first one is made when the server starts; its log says what came of it")
    }

    /// The keys that no backup holds, and without which a part of it opens nowhere.
    private func keys() -> [Finding] {
        let paths =
            [
                SecretKeys.path(configuration, of: folder.path), configuration.assets.keyFile,
                configuration.backups.keyFile,
            ].filter { !$0.isEmpty }
        return [
            .advice(
                "keys",
                "backups made by the server hold none of \(paths.joined(separator: ", "))",
                remedy: "make sure that a copy is in another place, which is not asked for here")
        ]
    }
}
