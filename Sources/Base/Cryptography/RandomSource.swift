import COpenSSL

/// Where unguessable bytes come from, handed in so that tests can say what comes.
package struct RandomSource: Sendable {
    private let make: @Sendable (Int) -> [UInt8]

    package init(_ make: @escaping @Sendable (Int) -> [UInt8]) { self.make = make }

    /// That many bytes that nobody can foresee.
    package func bytes(_ count: Int) -> [UInt8] { make(count) }

    /// A number from an even distribution.
    package func number() -> UInt64 { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }

    /// The cryptographic generator of the process, seeded by the kernel.
    package static let system = RandomSource { count in
        [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            // Going on without would make secrets that can be guessed: stopping is the lesser harm.
            precondition(
                RAND_bytes(bytes.baseAddress, Int32(clamping: count)) == 1,
                "the system gives no random bytes")
            written = count
        }
    }
}
