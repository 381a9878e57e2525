/// How much a caller may ask for in a second, by kind of caller; 0 sets no limit.
///
/// The defaults are above what one machine serves to one caller, so that an import by one script never
/// meets them. What to set against abuse stands in docs/operating.md.
package struct RateLimits: Sendable {
    /// What one caller may ask for in a second.
    package struct Rate: Sendable {
        package var requests: Int
        /// Saved and deleted, zones too.
        package var records: Int
        /// Of the bodies of requests that write.
        package var bytes: Int

        package init(requests: Int, records: Int = 0, bytes: Int = 0) {
            self.requests = requests
            self.records = records
            self.bytes = bytes
        }
    }

    /// Of a block of addresses whose requests show no credentials but an API token, or wrong ones.
    package var anonymous = Rate(requests: 50_000)
    /// Of a user, from wherever.
    package var user = Rate(requests: 200_000, records: 1_000_000, bytes: 4_294_967_296)
    /// Of a server key, also where it acts for users.
    package var serverKey = Rate(requests: 200_000, records: 1_000_000, bytes: 4_294_967_296)
    /// How many seconds' worth an idle caller may save up, as a device that starts needs much at once: budgets are as
    /// large as that.
    package var burstSeconds = 10
    /// Callers that are kept in mind at once, in 2 MiB; rounded up to a power of two.
    package var callersMax = 65_536

    package init() {}
}
