import Fairness
import HTTP

/// The threads that write, hash and wait for where the bytes of assets are.
///
/// A store elsewhere that hangs, or a disk that is slow, holds half of them for one caller at most.
typealias AssetWorkers = WorkPool<AssetPrincipal>

/// What is done of one upload, in order.
typealias AssetLine = WorkLine<AssetPrincipal>

/// Whom the time of these threads counts to.
///
/// The addresses of assets name no account: an upload counts to whoever was given its address, as its
/// grant tells, a download to where it comes from.
enum AssetPrincipal: Hashable, Sendable {
    case uploader([UInt8])
    case reader(HTTPRequest.Block?)
}
