import Foundation

/// Gives the token with which a web page acts for the signed-in user.
///
/// On this server a session has one token at a time: it is the one that this container's own requests use.
public final class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The API token of the page; the server looks at it when the page sends its requests.
    public var apiToken: String?

    /// Told at the end; fails with `notAuthenticated` when nobody is signed in.
    @preconcurrency public var fetchWebAuthTokenResultBlock:
        (@Sendable (Result<String, any Error>) -> Void)?
    /// The older form of the end.
    @preconcurrency public var fetchWebAuthTokenCompletionBlock:
        (@Sendable (String?, (any Error)?) -> Void)?

    /// Takes the API token of the page.
    public init(apiToken: String) { self.apiToken = apiToken }

    /// Takes the API token of the page, under its native name.
    public convenience init(APIToken: String) { self.init(apiToken: APIToken) }

    public override init() {}

    override func run() async {
        do {
            let token = try await token()
            fetchWebAuthTokenResultBlock?(.success(token))
            fetchWebAuthTokenCompletionBlock?(token, nil)
        } catch {
            fetchWebAuthTokenResultBlock?(.failure(CKError(error)))
            fetchWebAuthTokenCompletionBlock?(nil, CKError(error))
        }
    }

    private func token() async throws -> String {
        let connection = try requiredDatabase().connection
        // A request of one's own first, so that a session that has ended is told.
        _ = try await connection.call("public/users/caller", Array("{}".utf8))
        guard let token = await connection.currentWebToken else {
            throw CKError(.notAuthenticated, "nobody is signed in")
        }
        return token
    }
}
