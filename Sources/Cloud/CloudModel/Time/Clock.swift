/// Milliseconds since 1970-01-01T00:00:00Z, as the protocol counts time.
package typealias Milliseconds = Int64

/// The time of day, handed in so that tests set it.
package struct Clock: Sendable {
    package let now: @Sendable () -> Milliseconds

    package init(_ now: @escaping @Sendable () -> Milliseconds) { self.now = now }
}
