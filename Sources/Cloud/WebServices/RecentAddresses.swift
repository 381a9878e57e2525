import Accounts
import Platform

/// The last paths that each event loop has read: most requests repeat one of a few.
final class RecentAddresses: Sendable {
    private static let pathsPerLoop = 8

    private struct Recent {
        var paths: [(path: [UInt8], address: RequestAddress)] = []
        var next = 0
    }

    // Each element is touched only by the loop of its number.
    private nonisolated(unsafe) let loops: UnsafeMutableBufferPointer<Recent>

    init(loopCount: Int) {
        loops = .allocate(capacity: loopCount)
        loops.initialize(repeating: Recent())
    }

    deinit {
        loops.deinitialize()
        loops.deallocate()
    }

    /// The address that a target's path is, if it is one.
    ///
    /// - Parameter loop: the event loop whose thread this is; nil on any other thread.
    func address(of query: QueryString, loop: Int?) -> RequestAddress? {
        guard let loop, loops.indices.contains(loop) else {
            return RequestAddress(path: query.path)
        }
        for index in loops[loop].paths.indices
        where Self.isSame(query.path, loops[loop].paths[index].path) {
            return loops[loop].paths[index].address
        }
        guard let address = RequestAddress(path: query.path) else { return nil }
        // Only what is in the route table is worth a place.
        guard RouteTable.routes[address.operation] != nil else { return address }
        remember(Array(query.path), address, loop)
        return address
    }

    private static func isSame(_ path: ArraySlice<UInt8>, _ known: [UInt8]) -> Bool {
        path.count == known.count
            && path.withUnsafeBufferPointer { path in
                known.withUnsafeBufferPointer { known in
                    guard let first = path.baseAddress, let second = known.baseAddress else {
                        return true
                    }
                    return memcmp(first, second, path.count) == 0
                }
            }
    }

    private func remember(_ path: [UInt8], _ address: RequestAddress, _ loop: Int) {
        if loops[loop].paths.count < Self.pathsPerLoop {
            loops[loop].paths.append((path, address))
        } else {
            loops[loop].paths[loops[loop].next] = (path, address)
            loops[loop].next = (loops[loop].next + 1) % Self.pathsPerLoop
        }
    }
}
