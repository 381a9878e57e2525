import Platform

/// The buckets that latencies are counted in: eight to each doubling, with the same bounds everywhere and always.
///
/// They are those of an exponential histogram of scale 3 in OpenTelemetry, and of a native histogram of schema 3 in
/// Prometheus: the bucket of index `i` has what is above 2^(i/8) seconds and at most 2^((i+1)/8).
package enum LatencyScale {
    package static let scale = 3
    package static let bucketsPerDoubling = 8
    /// Just under a microsecond, and what is faster.
    package static let first = -160
    /// Just over 17 minutes, and what is slower.
    package static let last = 79

    /// How many of the bounds within a doubling lie below each sixteenth of it.
    private static let boundsBelow: [UInt8] = [0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7]

    /// The bounds within a doubling, 2^(k/8) for k from 1, as the 52 bits of a number's mantissa; the last is above all.
    private static let bounds: [UInt64] = [
        0x1_72b8_3c7d_517b, 0x3_06fe_0a31_b715, 0x4_bfda_d536_2a27, 0x6_a09e_667f_3bcd,
        0x8_ace5_422a_a0db, 0xa_e89f_995a_d3ad, 0xd_5818_dcfb_a487,
        UInt64.max,
    ]

    /// The bucket of a time.
    ///
    /// The exponent and the first four bits of the mantissa say which two buckets it can be; one comparison says
    /// which it is.
    package static func index(nanoseconds: UInt64) -> Int {
        let bits = (Double(nanoseconds) / 1e9).bitPattern
        let exponent = Int(truncatingIfNeeded: bits >> 52) - 1_023
        let mantissa = bits & 0xf_ffff_ffff_ffff
        let below = Int(boundsBelow[Int(truncatingIfNeeded: mantissa >> 48)])
        var index = exponent &* bucketsPerDoubling &+ below
        if mantissa > bounds[below] { index &+= 1 }
        // A power of two is the upper end of its bucket.
        if mantissa == 0 { index &-= 1 }
        return min(max(index, first), last)
    }

    /// The upper end of a bucket, in seconds.
    package static func upperSeconds(of index: Int) -> Double {
        exp2(Double(index + 1) / Double(bucketsPerDoubling))
    }

    /// What stands for all times of a bucket: no more than 4.5 % from any of them.
    package static func middleSeconds(of index: Int) -> Double {
        exp2((Double(index) + 0.5) / Double(bucketsPerDoubling))
    }
}
