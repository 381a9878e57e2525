import Fairness
import HTTP

/// The threads that write, hash, and wait for the place of assets' bytes.
///
/// If a store elsewhere hangs or a disk is slow, one caller keeps at most half of them busy.
typealias AssetWorkers = WorkPool<AssetPrincipal>

/// What is done of one upload, in order.
typealias AssetLine = WorkLine<AssetPrincipal>

/// Whom the time of these threads counts towards.
///
/// Addresses of assets name no account. An upload counts towards the user who was given its address, by its
/// grant. A download counts towards the network address that it comes from.
enum AssetPrincipal: Hashable, Sendable {
    case uploader([UInt8])
    case reader(HTTPRequest.Block?)
}
