import Configuration
import Control
import Cryptography
import Delivery
import Files
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The keys that seal the secrets of a data folder: read at its opening, made at the first.
///
/// The folder notes which key seals. When that key is missing, the folder is not opened. Otherwise
/// the server would silently make a new key, and everything that the old one seals would be lost.
enum SecretKeys {
    /// Where the keys are, below the data folder, unless `security.keyFile` says otherwise.
    static let fileName = "secrets.key"
    /// Holds the name of the key that seals, which is no secret.
    static let noteName = "sealed-by"

    private static let keysMax = 8
    private static let fileBytesMax = 1_024

    /// Where the keys of a data folder are.
    static func path(_ configuration: ServerConfiguration, of folder: String) -> String {
        let named = configuration.security.keyFile
        return named.isEmpty ? "\(folder)/\(fileName)" : named
    }

    /// Reads the keys; makes the file where there is none and nothing is sealed yet.
    ///
    /// - Throws: `CommandFailure` for a file that others may read, or without keys. Also for one without
    ///   the key that the folder's secrets are sealed with.
    static func open(
        _ configuration: ServerConfiguration, of folder: String, random: RandomSource
    ) throws -> SealedSecrets {
        let path = path(configuration, of: folder)
        let note = "\(folder)/\(noteName)"
        let noted = try FileSystem.kind(of: note).map { _ in
            String(decoding: try FileSystem.contents(of: note, bytesMax: 64), as: UTF8.self)
                .filter { !$0.isWhitespace }
        }
        if try FileSystem.kind(of: path) == nil {
            if noted != nil { throw lost(path, note, "is not there") }
            let key = Hexadecimal.encode(random.bytes(SealedSecrets.keyBytes))
            // Whole or not at all: an empty file, as a process leaves that is killed here, would open nothing ever after.
            try FileSystem.write(Array("\(key)\n".utf8), over: path)
            try FileSystem.synchronize(FileSystem.parent(of: path) ?? ".")
        }
        let secrets = try read(path, random: random)
        if let noted, !secrets.keyNames.contains(noted) {
            throw lost(path, note, "does not hold the key \(noted)")
        }
        if secrets.keyNames.first != noted, let name = secrets.keyNames.first {
            try FileSystem.write(Array("\(name)\n".utf8), over: note)
            try FileSystem.synchronize(folder)
        }
        return secrets
    }

    /// Refuses keys that do not open all of what is sealed in data that several processes may share.
    ///
    /// Such data are where the note of a folder does not tell of them: a folder that is new may come to them.
    ///
    /// - Throws: `CommandFailure` that names the keys which are missing.
    static func requireShared(
        _ secrets: SealedSecrets, _ configuration: ServerConfiguration, of folder: String,
        with engine: any StorageEngine
    ) throws {
        guard !engine.processes.living.isEmpty else { return }
        let sealed = try engine.catalog.sealedSecrets(ownNamed: PushKeys.ownKeyName)
            .map { SealedSecrets.keyName(of: $0.sealed) }.filter { !secrets.keyNames.contains($0) }
        guard !sealed.isEmpty else { return }
        throw CommandFailure(
            "security.keyFile: \(path(configuration, of: folder)) does not hold the key "
                + "\(Set(sealed).sorted().joined(separator: ", ")), which seals \(sealed.count) "
                + "\(sealed.count == 1 ? "secret" : "secrets") in the database: give all of its processes "
                + "the same keys")
    }

    /// Refuses a file of the settings' that is there and holds no keys; the data folder's own is not looked at.
    ///
    /// - Throws: as `open`.
    static func requireUsable(_ configuration: ServerConfiguration) throws {
        let path = configuration.security.keyFile
        guard !path.isEmpty, try FileSystem.kind(of: path) != nil else { return }
        _ = try read(path, random: .system)
    }

    private static func read(_ path: String, random: RandomSource) throws -> SealedSecrets {
        try requireOwn(path)
        guard let secrets = SealedSecrets(keys: try keys(path), random: random) else {
            throw CommandFailure(
                "security.keyFile: \(path) does not hold 1 to \(keysMax) lines of 64 lower-case "
                    + "hexadecimal digits; make one with: openssl rand -hex 32")
        }
        return secrets
    }

    /// Refuses when the file of the keys holds others than were read from it.
    ///
    /// - Throws: `CommandFailure`.
    static func requireUnchanged(
        _ secrets: SealedSecrets, _ configuration: ServerConfiguration, of folder: String
    ) throws {
        let path = path(configuration, of: folder)
        let present = SealedSecrets(keys: try keys(path), random: .system)
        guard present?.keyNames == secrets.keyNames else {
            throw CommandFailure(
                "security.keyFile: \(path) was changed after the server read it; restart the server first"
            )
        }
    }

    /// Has the keys of a folder open what those of another folder have sealed; its own first one still seals.
    ///
    /// - Throws: `CommandFailure`, where its keys lie elsewhere or are too many.
    static func add(
        keysOf source: ServerConfiguration, in folder: String, to target: ServerConfiguration
    ) throws {
        let path = path(target, of: target.data)
        let there = try keys(path)
        let missing = try keys(Self.path(source, of: folder)).filter { !there.contains($0) }
        guard !missing.isEmpty else { return }
        guard isInBackup(target), there.count + missing.count <= keysMax else {
            throw CommandFailure(
                "security.keyFile: \(path) lacks keys of \(Self.path(source, of: folder)): put them "
                    + "behind its own, \(keysMax) in all at most, and run this again")
        }
        let text = (there + missing).map { "\(Hexadecimal.encode($0))\n" }.joined()
        try FileSystem.write(Array(text.utf8), over: path)
        try FileSystem.synchronize(target.data)
    }

    /// Whether a backup takes the keys along: it does where they lie in the data folder.
    static func isInBackup(_ configuration: ServerConfiguration) -> Bool {
        configuration.security.keyFile.isEmpty
    }

    /// What a backup takes along beside the databases.
    static func namesInBackup(_ configuration: ServerConfiguration) -> [String] {
        isInBackup(configuration) ? [fileName, noteName] : [noteName]
    }

    private static func keys(_ path: String) throws -> [[UInt8]] {
        let text = try FileSystem.contents(of: path, bytesMax: fileBytesMax)
        let lines = text.split { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }
        let keys = lines.compactMap { Hexadecimal.decode($0) }
        return keys.count == lines.count && keys.count <= keysMax ? keys : []
    }

    private static func requireOwn(_ path: String) throws(CommandFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CommandFailure("cannot look at \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & 0o037 == 0 else {
            throw CommandFailure(
                "security.keyFile: others may read or change \(path); run: chmod 600 "
                    + FolderAccess.quoted(path))
        }
    }

    private static func lost(_ path: String, _ note: String, _ what: String) -> CommandFailure {
        CommandFailure(
            "security.keyFile: \(path) \(what), which seals this folder's secrets: put it back. To begin "
                + "anew without what it seals (second factors, passwords of mail servers, keys of pushes and "
                + "webhooks), remove "
                + FolderAccess.quoted(note))
    }
}
