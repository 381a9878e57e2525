import Foundation

/// Finds people by what others know of them: those who have chosen to be found.
public final class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The people to find.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []
    /// Told of each who was found.
    @preconcurrency public var userIdentityDiscoveredBlock:
        (@Sendable (CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Told at the end; fails with `notAuthenticated` when nobody is signed in.
    @preconcurrency public var discoverUserIdentitiesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of the end.
    @preconcurrency public var discoverUserIdentitiesCompletionBlock:
        (@Sendable ((any Error)?) -> Void)?

    /// Takes the people to find.
    public init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    public override init() {}

    override func run() async {
        do {
            let found = try await requiredContainer().identities(userIdentityLookupInfos)
            for (info, identity) in zip(userIdentityLookupInfos, found) {
                if let identity { userIdentityDiscoveredBlock?(identity, info) }
            }
            discoverUserIdentitiesResultBlock?(.success(()))
            discoverUserIdentitiesCompletionBlock?(nil)
        } catch {
            discoverUserIdentitiesResultBlock?(.failure(CKError(error)))
            discoverUserIdentitiesCompletionBlock?(CKError(error))
        }
    }
}
