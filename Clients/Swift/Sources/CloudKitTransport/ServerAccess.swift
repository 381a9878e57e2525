import Foundation

/// Where a server is and what lets a program in.
public struct ServerAccess: Sendable {
    /// The two halves of a container, which never see each other's data.
    public enum Environment: String, Sendable {
        case development
        case production
    }

    /// How the program identifies itself to the server.
    public enum Credentials: Sendable {
        /// Nobody: what everybody may read of the public database.
        case none
        /// A person who has signed in. The server hands out successors, which are taken over.
        case webAuthToken(String)
        /// A person who signs in when it is first needed, and again when a session has ended. The closure gets
        /// the address of the server's page and gives back the token; it is asked once, however many
        /// requests wait.
        case signIn(@Sendable (URL) async throws -> String)
        /// A program with a P-256 key. The closure signs with ECDSA over SHA-256 and gives back the signature
        /// in DER.
        case serverKey(id: String, sign: @Sendable (Data) throws -> Data)
    }

    /// The server's address, such as `https://sync.example.org`.
    public var url: URL
    /// Which half of the container.
    public var environment: Environment
    /// Names the app to the server; a server key needs none.
    public var apiToken: String?
    /// The credentials of the program.
    public var credentials: Credentials
    /// Called with every web token that replaces another, and with nil when a session has ended: for programs
    /// that keep it for their next run, where nobody else reads it.
    public var onTokenChange: (@Sendable (String?) -> Void)?

    /// Takes an address and what lets the program in.
    public init(
        url: URL, environment: Environment = .development, apiToken: String? = nil,
        credentials: Credentials = .none
    ) {
        self.url = url
        self.environment = environment
        self.apiToken = apiToken
        self.credentials = credentials
    }
}

extension ServerAccess: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without tokens: what is printed may end up in a log.
    public var description: String { "<ServerAccess \(url.host ?? "?") \(environment.rawValue)>" }

    /// As `description`.
    public var debugDescription: String { description }
}
