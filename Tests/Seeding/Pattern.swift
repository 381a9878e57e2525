/// Bytes that repeat only after a while, and that no two seeds share.
package func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        withUnsafeBytes(of: state >> 8) { bytes += $0.prefix(7) }
    }
    return Array(bytes.prefix(count))
}
