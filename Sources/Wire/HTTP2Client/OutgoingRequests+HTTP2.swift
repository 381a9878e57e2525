#if ApplePush
    import HTTPClient
    import Network

    extension OutgoingRequests {
        /// Sends requests over HTTP/2, many at a time on few connections.
        ///
        /// Some requests were not looked at, as the server says: those that it refused, and those above the
        /// last stream of its GOAWAY. They are sent again on another connection.
        ///
        /// - Parameter trust: made for `http2`.
        package static func http2(
            policy: TargetPolicy, trust: TLSTrust, limits: OutgoingLimits = .http2,
            clock: MonotonicClock = .system, resolve: @escaping Resolve
        ) throws(SystemError) -> OutgoingRequests {
            try OutgoingRequests(
                "http2", policy: policy, trust: trust, limits: limits, clock: clock,
                resolve: resolve
            ) { (address, destination, requests, others) throws(SystemError) in
                try HTTP2Connection(
                    to: address, of: destination, in: requests, otherAddresses: others)
            }
        }
    }
#endif
