import Configuration
import Control
import Delivery
import HTTPClient
import Network
import Storage

#if ApplePush
    import HTTP2Client
#endif

/// What carries notices, for each kind of destination that is sent to, and the connections that it uses.
package final class NoticeSenders: Sendable {
    package let byKind: [DestinationKind: any NoticeSender]
    private let traffic: OutgoingTraffic
    #if ApplePush
        private let http2: OutgoingRequests
    #endif

    /// Starts the threads, which `stop` has to end.
    ///
    /// - Throws: as `OutgoingTraffic`; what the catalog reports when the server's own key is read.
    package init(_ folder: DataFolder) throws {
        let configuration = folder.configuration
        let settings = configuration.outgoing
        let ownKey = try folder.pushKeys.ownKey()
        let traffic = try OutgoingTraffic(configuration)
        self.traffic = traffic
        var byKind: [DestinationKind: any NoticeSender] = [
            .webhook: Self.webhooks(folder, traffic),
            .webPush: WebPushSender(
                PushIdentification(
                    key: ownKey, contact: settings.contact.isEmpty ? nil : settings.contact),
                random: folder.random
            ) { traffic.requests.send($0, then: $1) },
        ]
        #if ApplePush
            do {
                let http2 = try Self.http2(configuration, traffic)
                self.http2 = http2
                let pushKeys = folder.pushKeys
                byKind[.apns] = ApplePushSender(
                    origins: configuration.applePushOrigins,
                    findKey: { pushKeys.key(of: $0, topic: $1) },
                    send: { http2.send($0, then: $1) })
            } catch {
                traffic.stop()
                throw error
            }
        #endif
        self.byKind = byKind
    }

    /// What posts to webhooks.
    static func webhooks(_ folder: DataFolder, _ traffic: OutgoingTraffic) -> WebhookSender {
        WebhookSender(
            secrets: folder.secrets, agent: "lenticular/\(ProgramVersion.text)",
            atOnceMax: OutgoingLimits().connectionsPerDestinationMax
        ) { traffic.requests.send($0, then: $1) }
    }

    /// Ends every connection and the threads; what is under way is reported as failed, to be sent later.
    package func stop() {
        #if ApplePush
            http2.stop()
        #endif
        traffic.stop()
    }

    #if ApplePush
        private static func http2(
            _ configuration: ServerConfiguration, _ traffic: OutgoingTraffic
        ) throws -> OutgoingRequests {
            try OutgoingRequests.http2(
                policy: configuration.targetPolicy,
                trust: try TLSTrust(
                    authoritiesFile: configuration.outgoing.authoritiesFile, spoken: .http2),
                limits: .http2, resolve: traffic.resolve)
        }
    #endif
}

/// Whether this build pushes to Apple's devices.
package enum ApplePushSupport {
    #if ApplePush
        static let isBuilt = true
    #else
        static let isBuilt = false
    #endif

    /// - Throws: `CommandFailure` that says how to build it, when it does not.
    package static func require() throws(CommandFailure) {
        guard !isBuilt else { return }
        throw CommandFailure(
            "this build does not push to Apple's devices; build it with libnghttp2-dev and "
                + "`make release TRAITS=ApplePush`")
    }
}
