import Accounts
import CloudModel
import Configuration
import Control
import Cryptography
import Fairness
import HTTP
import Network
import WebServices

extension ServerConfiguration {
    /// Where to listen; the configuration's own check has ruled out what is no address.
    package var addresses: [ListenAddress] { listen.compactMap { ListenAddress($0) } }

    /// Where browsers reach the server, without a slash at the end; the first listen address unless set.
    var baseURL: String {
        guard publicBaseURL.isEmpty else {
            return publicBaseURL.hasSuffix("/") ? String(publicBaseURL.dropLast()) : publicBaseURL
        }
        let scheme = hasTLS ? "https" : "http"
        return "\(scheme)://\(listen.first { !$0.hasPrefix("unix:") } ?? "localhost")"
    }

    /// The same, with the ports that the system chose where port 0 was asked for.
    ///
    /// - Parameter addresses: that were bound, in the order of `listen`.
    func reached(at addresses: [ListenAddress]) -> ServerConfiguration {
        var reached = self
        reached.listen = zip(listen, addresses).map { text, address in
            guard case .tcp(let host, 0)? = ListenAddress(text),
                case .tcp(_, let port) = address
            else { return text }
            return "\(ListenAddress.tcp(host: host, port: port))"
        }
        return reached
    }

    /// How many event loops there are.
    var loopCount: Int { http.eventLoops > 0 ? http.eventLoops : HTTPServer.coreCount }

    /// Whether TCP addresses speak TLS.
    package var hasTLS: Bool { !tls.certificateFile.isEmpty }

    /// The certificate and key that the settings name; nil when they name none.
    ///
    /// - Throws: `CommandFailure` when they cannot be used.
    func makeTLS() throws(CommandFailure) -> TLSContext? {
        guard hasTLS else { return nil }
        do {
            return try TLSContext(
                certificateFile: tls.certificateFile, keyFile: tls.privateKeyFile)
        } catch {
            throw CommandFailure("tls: \(error)")
        }
    }

    /// The wire half's part.
    ///
    /// - Parameter tls: what TCP addresses speak; Unix sockets never do.
    func wire(tls: TLSContext?) -> HTTPServer.Configuration {
        var wire = HTTPServer.Configuration(
            endpoints: addresses.map { address in
                switch address {
                case .tcp: HTTPServer.Endpoint(address, tls: tls)
                case .unix: HTTPServer.Endpoint(address)
                }
            })
        wire.loopCount = loopCount
        let proxies = http.trustedProxies
        wire.isTrustedProxy = { address in proxies.contains { $0.contains(address) } }
        wire.gzip =
            switch http.gzip {
            case .always: .on
            case .remote: .remote
            case .never: .off
            }
        wire.limits.bodyBytesMax = http.bodyBytesMax
        wire.limits.inflatedBodyBytesMax = http.bodyBytesMax
        wire.limits.bodyMemoryBytesMax = http.bodyMemoryBytesMax
        wire.limits.connectionCountMax = http.connectionsMax
        wire.limits.connectionsPerAddressMax = connectionsPerAddressMax(of: http.connectionsMax)
        wire.limits.idleSecondsMax = http.idleSecondsMax
        return wire
    }

    /// How many of all connections one address may have.
    func connectionsPerAddressMax(of connectionCount: Int) -> Int {
        let set = http.connectionsPerAddressMax
        return set > 0 ? set : max(8, connectionCount / 3)
    }

    /// The cloud half's limits.
    var serviceLimits: ServiceLimits {
        var service = ServiceLimits()
        service.operationsPerRequestMax = limits.operationsPerRequestMax
        service.recordsPerResponseMax = limits.recordsPerResponseMax
        service.recordBytesMax = limits.recordBytesMax
        service.pageBytesMax = limits.pageBytesMax
        service.heldPollsMax = http.connectionsMax / 2
        service.heldPollsPerUserMax = http.heldPollsPerUserMax
        service.feedWaitSecondsMax = limits.feedWaitSecondsMax
        service.courierPollSeconds = push.pollSeconds
        service.userQuotaBytes = Int64(limits.userQuotaBytes)
        service.publicQuotaBytes = Int64(limits.publicQuotaBytes)
        service.tombstoneDays = retention.tombstoneDays
        service.queryMillisecondsMax = limits.queryMillisecondsMax
        service.indexWaitMilliseconds = limits.indexWaitMilliseconds
        return service
    }

    /// What one caller may ask for in a second.
    var rateLimits: RateLimits {
        var rates = RateLimits()
        rates.anonymous.requests = limits.anonymousRequestsPerSecondMax
        rates.user = RateLimits.Rate(
            requests: limits.userRequestsPerSecondMax, records: limits.userRecordsPerSecondMax,
            bytes: limits.userBytesPerSecondMax)
        rates.serverKey = RateLimits.Rate(
            requests: limits.serverKeyRequestsPerSecondMax,
            records: limits.serverKeyRecordsPerSecondMax, bytes: limits.serverKeyBytesPerSecondMax)
        return rates
    }

    /// The threads for what is too long for an event loop.
    ///
    /// Each lane has one for each processor: with more, one caller's half of them keeps every processor
    /// busy, and the event loops wait for their turns (docs/performance.md, `fairness`). Before an engine on a network
    /// threads mostly wait: there are as many as sessions for them, and what waits is not yet long.
    var workers: WorkOptions {
        var options = WorkOptions()
        options.shortThreads = max(2, HTTPServer.coreCount)
        options.longThreads = max(2, HTTPServer.coreCount)
        if storage.engine == .postgres {
            options.shortThreads = max(options.shortThreads, storage.postgres.sessionsMax / 2)
            options.longThreads = max(options.longThreads, storage.postgres.sessionsMax / 8)
            options.longNanoseconds = 100_000_000
        }
        options.commitThreads = 8
        options.waitingMax = limits.waitingMax
        options.waitingPerPrincipalMax = max(1, limits.waitingMax / 16)
        return options
    }

    /// What assets are held to.
    var assetOptions: AssetOptions {
        var base = assets.baseURL.isEmpty ? baseURL : assets.baseURL
        if base.hasSuffix("/") { base.removeLast() }
        var options = AssetOptions(baseURL: base)
        options.bytesMax = assets.bytesMax
        // Threads that wait for a store elsewhere must not block each other.
        if !s3.bucket.isEmpty { options.workerCount = 32 }
        options.lives.downloadURL = assets.downloadSeconds
        return options
    }

    /// After so long without another byte nobody goes on with an upload, nor does one that still comes in pause for so long.
    var abandonedUploadMilliseconds: Milliseconds {
        Milliseconds(max(assets.graceSeconds, assetOptions.resumeSeconds)) * 1_000
    }

    /// The limits on credentials.
    var accountsSettings: AccountsSettings {
        var settings = AccountsSettings()
        settings.webTokenSeconds = tokens.webAuthSecondsMax
        settings.keptWebTokenSeconds = tokens.webAuthStaySecondsMax
        settings.passwordCosts = PasswordHash.Costs(bits: accounts.passwordCostBits)
        settings.sessionSeconds = accounts.sessionSecondsMax
        settings.keptSessionSeconds = accounts.keptSessionSecondsMax
        settings.textMessagesPerHourMax = textMessages.perHourMax
        settings.deletionGraceDays = accounts.deletionGraceDays
        return settings
    }

    /// How many stores are open, and for how long.
    var storeLimits: Stores.Limits {
        var limits = Stores.Limits()
        limits.openMax = storage.storesOpenMax
        return limits
    }
}

extension LogFormat {
    package init(_ format: LogSettings.Format, isTerminal: Bool) {
        switch format {
        case .auto: self = isTerminal ? .text : .json
        case .json: self = .json
        case .text: self = .text
        }
    }
}

extension LogLevel {
    package init(_ level: LogSettings.Level) {
        switch level {
        case .info: self = .info
        case .warning: self = .warning
        case .error: self = .error
        }
    }
}
