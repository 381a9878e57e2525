import CloudKitWire
import Foundation

/// Asks to take part in shares whose links somebody has.
///
/// Nobody learns by it whether a link leads anywhere: each request is answered alike.
public final class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The links.
    public var shareURLs: [URL]?
    /// Told of each link.
    @preconcurrency public var perShareAccessRequestResultBlock:
        (@Sendable (URL, Result<Void, any Error>) -> Void)?
    /// Told at the end; fails with `notAuthenticated` when nobody is signed in, and with `requestRateLimited` for more
    /// requests in a day than the server takes.
    @preconcurrency public var shareRequestAccessResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: told of each link.
    @preconcurrency public var perShareAccessRequestCompletionBlock:
        (@Sendable (URL, (any Error)?) -> Void)?
    /// The older form of the end.
    @preconcurrency public var shareRequestAccessCompletionBlock:
        (@Sendable ((any Error)?) -> Void)?

    /// Takes the links.
    public init(shareURLs: [URL]) { self.shareURLs = shareURLs }

    public override init() {}

    override func run() async {
        do {
            let urls = shareURLs ?? []
            try await requiredContainer().requestAccess(to: urls)
            for url in urls {
                perShareAccessRequestResultBlock?(url, .success(()))
                perShareAccessRequestCompletionBlock?(url, nil)
            }
            shareRequestAccessResultBlock?(.success(()))
            shareRequestAccessCompletionBlock?(nil)
        } catch {
            shareRequestAccessResultBlock?(.failure(CKError(error)))
            shareRequestAccessCompletionBlock?(CKError(error))
        }
    }
}

extension CKContainer {
    fileprivate func requestAccess(to urls: [URL]) async throws {
        guard !urls.isEmpty else { return }
        _ = try await publicCloudDatabase.call("records/requestAccess") { json in
            json.key("shortGUIDs")
            json.array { json in
                for url in urls { json.object { $0.member("value", url.lastPathComponent) } }
            }
        }
    }
}
