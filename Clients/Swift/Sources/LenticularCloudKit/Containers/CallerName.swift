import CloudKitTransport
import Foundation

/// The caller's user record name, asked for once for each sign-in.
actor CallerName {
    /// The name as it was last told; it may be that of somebody who has signed out.
    private(set) var known: String?
    /// The sign-in that the name is of.
    private var generation = 0
    /// The user that the app takes to be signed in: the first one, or the one that it was last told of.
    private var told: String?

    func name(by connection: ServiceConnection) async throws -> String {
        while true {
            let before = await connection.accountGeneration
            // Looked at only now: others may have asked while this one waited.
            if let known, generation == before { return known }
            let answer = try await connection.call("public/users/caller", Array("{}".utf8))
            guard let name = answer["userRecordName"]?.string else {
                throw TransportFailure.unreadable(status: 200)
            }
            // Somebody may have signed in meanwhile, by this very call too: whose name it is nobody knows then.
            guard await connection.accountGeneration == before, generation <= before else {
                continue
            }
            generation = before
            known = name
            if generation == 0 { told = name }
            return name
        }
    }

    /// Looks who is signed in now.
    ///
    /// Others may have asked for the name meanwhile, so it is compared with the one that the app was told of.
    /// - Returns: whether it is somebody else than the app knows of, or nobody any more; true once for each.
    func hasChanged(by connection: ServiceConnection) async -> Bool {
        let current = try? await name(by: connection)
        if current == nil { known = nil }
        defer { told = current }
        return told != current
    }
}
