import CloudKitTransport
import Foundation

/// The caller's user record name, asked for once for each sign-in.
actor CallerName {
    /// The name as it was last told; it may be that of somebody who has signed out.
    private(set) var known: String?
    /// The sign-in that the name is of.
    private var generation = 0

    func name(by connection: ServiceConnection) async throws -> String {
        if let known, await connection.accountGeneration == generation { return known }
        let answer = try await connection.call("public/users/caller", Array("{}".utf8))
        guard let name = answer["userRecordName"]?.string else {
            throw TransportFailure.unreadable(status: 200)
        }
        // As of after the call: it may have signed somebody in.
        generation = await connection.accountGeneration
        known = name
        return name
    }

    /// Looks who is signed in now.
    ///
    /// - Returns: whether it is somebody else than before, or nobody any more.
    func hasChanged(by connection: ServiceConnection) async -> Bool {
        let former = known
        let current = try? await name(by: connection)
        if current == nil { known = nil }
        return former != current
    }
}
