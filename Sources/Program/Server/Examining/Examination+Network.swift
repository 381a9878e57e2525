import Administration
import Configuration
import Cryptography
import HTTPClient
import Network

extension Examination {
    private static let day: Int64 = 86_400
    private static let renewalDays: Int64 = 21
    private static let urgentDays: Int64 = 7
    private static let answerMillisecondsMax = 5_000
    private static let wordBytes = 16

    /// TLS, where links lead, and what proxies say.
    func network() throws -> [Finding] {
        guard isPublic else {
            return [.good("network", "only this machine reaches the server")]
        }
        return try tls() + address()
    }

    private func tls() throws -> [Finding] {
        guard let context = try configuration.makeTLS() else {
            guard !exposedAddresses.isEmpty, configuration.http.trustedProxies.isEmpty else {
                return []
            }
            return [
                .problem(
                    "TLS",
                    "\(exposedAddresses.joined(separator: ", ")) is open without TLS, and no proxy is trusted",
                    remedy:
                        "set tls.certificateFile and tls.privateKeyFile, or listen on loopback behind a proxy"
                )
            ]
        }
        let days = context.secondsLeft(at: folder.clock.now() / 1_000) / Self.day
        var found: [Finding] = []
        let remedy = "renew it, and send the server SIGHUP"
        if days < Self.urgentDays {
            let text =
                days < 0 ? "the certificate has ended" : "the certificate ends in \(days) days"
            found.append(.problem("TLS", text, remedy: remedy))
        } else if days < Self.renewalDays {
            found.append(.advice("TLS", "the certificate ends in \(days) days", remedy: remedy))
        } else {
            found.append(.good("TLS", "the certificate is good for \(days) days"))
        }
        if let host = HTTPOrigin(configuration.baseURL)?.host, !configuration.publicBaseURL.isEmpty,
            !context.isCertificate(for: host)
        {
            found.append(
                .problem(
                    "TLS", "the certificate is not for \(host), which publicBaseURL names",
                    remedy: "get one for that name, or set publicBaseURL to a name that it has"))
        }
        return found
    }

    private func address() throws -> [Finding] {
        guard !configuration.publicBaseURL.isEmpty, let origin = HTTPOrigin(configuration.baseURL)
        else {
            return [
                .problem(
                    "publicBaseURL", "it is not set: links in letters and shares name this machine",
                    remedy: "set it to the address that people reach the server by")
            ]
        }
        var found: [Finding] = []
        if !origin.isSecure {
            found.append(
                .problem(
                    "publicBaseURL",
                    "\(origin.text) is not https: passwords and tokens travel open",
                    remedy: "put TLS in front, and name it https://…"))
        }
        guard folder.addressProbe.isServing else {
            found.append(
                .advice(
                    "public address", "no server runs on this folder, so it was not asked",
                    remedy: "run doctor again while the server runs"))
            return found
        }
        return found + (try reached(origin))
    }

    /// Asks the public address for this server's health, and looks at what arrives.
    private func reached(_ origin: HTTPOrigin) throws -> [Finding] {
        var options = BlockingHTTPClient.Options()
        options.connectMillisecondsMax = Self.answerMillisecondsMax
        options.silenceMillisecondsMax = Self.answerMillisecondsMax
        let client = BlockingHTTPClient(
            origin, trust: try ServerTrust(authoritiesFile: configuration.outgoing.authoritiesFile),
            options: options)
        let word = Hexadecimal.encode(folder.random.bytes(Self.wordBytes))
        var failure: ClientFailure?
        var status = 0
        let arrival = folder.addressProbe.arrival(of: word) {
            do throws(ClientFailure) {
                status = try client.send(
                    ClientRequest(
                        method: "GET", target: "/healthz",
                        headers: [(AddressProbe.headerName, word)])
                ).status
            } catch { failure = error }
        }
        if let arrival { return judged(arrival, origin) }
        if let failure {
            return [
                .problem(
                    "public address", "\(origin.text) was asked from this machine: \(failure)",
                    remedy:
                        "look at its name in DNS, the proxy, the firewall and the certificate; a "
                        + "router may refuse what comes from inside")
            ]
        }
        return [
            .problem(
                "public address", "\(origin.text) answers \(status), but it is not this server",
                remedy: "point the name or the proxy here: nobody gets in otherwise")
        ]
    }

    private func judged(_ arrival: AddressProbe.Arrival, _ origin: HTTPOrigin) -> [Finding] {
        var found = [Finding.good("public address", "\(origin.text) leads here")]
        let peer = arrival.peer.address
        let isBehindProxy = !arrival.forwardedFor.isEmpty
        if isBehindProxy, !arrival.peer.isTrustedProxy {
            found.append(
                .problem(
                    "proxy",
                    "requests come through \(peer), which is not trusted to name clients: all of them share "
                        + "one address's limits",
                    remedy: "add \(peer) to http.trustedProxies"))
        } else if arrival.peer.isTrustedProxy, !isBehindProxy {
            found.append(
                .problem(
                    "proxy", "\(peer) is a trusted proxy and sends no X-Forwarded-For",
                    remedy:
                        "have it set X-Forwarded-For, as docs/operating/tls-and-proxies.md shows"))
        } else if isBehindProxy, origin.isSecure, arrival.forwardedProto != "https" {
            found.append(
                .problem(
                    "proxy", "\(peer) does not say by X-Forwarded-Proto that clients came by TLS",
                    remedy: "have it set X-Forwarded-Proto to https"))
        } else if isBehindProxy {
            found.append(.good("proxy", "\(peer) is trusted and names its clients"))
        }
        if arrival.host.lowercased() != origin.authority.lowercased() {
            found.append(
                .advice(
                    "proxy",
                    "requests name the host \(arrival.host) instead of \(origin.authority)",
                    remedy: "have the proxy pass the Host field on as it came"))
        }
        return found
    }
}
