import HTTP
import Pages

/// Answers the addresses beside the protocol and hands everything else on.
package struct ServerResponder: Responder {
    private let readiness: Readiness
    private let metrics: Metrics
    private let metricsAccess: MetricsAccess
    private let protocolResponder: any Responder
    private let pages: PagesResponder?
    private let linkHost: LinkHost?
    private let probe: AddressProbe?
    private let front: FrontPage
    private let description: DescriptionPages?

    package init(
        readiness: Readiness, metrics: Metrics, metricsAccess: MetricsAccess,
        protocolResponder: any Responder, pages: PagesResponder? = nil,
        mark: ServiceMark = ServiceMark(name: "Lenticular"),
        description: DescriptionPages? = nil
    ) {
        self.init(
            readiness: readiness, metrics: metrics, metricsAccess: metricsAccess,
            protocolResponder: protocolResponder, pages: pages, mark: mark, linkHost: nil,
            probe: nil, description: description)
    }

    init(
        readiness: Readiness, metrics: Metrics, metricsAccess: MetricsAccess,
        protocolResponder: any Responder, pages: PagesResponder?, mark: ServiceMark,
        linkHost: LinkHost?, probe: AddressProbe?, description: DescriptionPages?
    ) {
        self.description = description
        self.probe = probe
        front = FrontPage(mark)
        self.readiness = readiness
        self.metrics = metrics
        self.metricsAccess = metricsAccess
        self.protocolResponder = protocolResponder
        self.pages = pages
        self.linkHost = linkHost
    }

    package func respond(to request: HTTPRequest, reply: HTTPReply) {
        guard let page = page(at: request.target) else {
            linkHost?.look(at: request)
            if let pages, PagesResponder.isBelow(request.target) {
                return pages.respond(to: request, reply: reply)
            }
            return protocolResponder.respond(to: request, reply: reply)
        }
        guard request.method == .get || request.method == .head else {
            var response = text(405, "method not allowed\n")
            response.headers.append(("Allow", "GET, HEAD"))
            return reply.send(response)
        }
        reply.send(response(of: page, to: request))
    }

    package func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        guard page(at: request.target) == nil else {
            respond(to: request, reply: reply)
            return .answered
        }
        linkHost?.look(at: request)
        if let pages, PagesResponder.isBelow(request.target) {
            return pages.decide(on: request, reply: reply)
        }
        return protocolResponder.decide(on: request, reply: reply)
    }

    package func runLong(
        for request: HTTPRequest, _ work: @escaping @Sendable () -> Void
    ) { protocolResponder.runLong(for: request, work) }

    package func streamsBody(of target: [UInt8]) -> Bool {
        protocolResponder.streamsBody(of: target)
    }

    package func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)? {
        protocolResponder.receive(request, stream: stream, reply: reply)
    }

    private enum Page { case front, health, readiness, metrics, client, description }

    private func page(at target: [UInt8]) -> Page? {
        // All of these are short, and nearly every request is for another address.
        guard target.count < 256 else { return nil }
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        if path.count == 1, path.first == UInt8(ascii: "/") { return .front }
        if path.elementsEqual("/healthz".utf8) { return .health }
        if path.elementsEqual("/readyz".utf8) { return .readiness }
        if ClientFiles.isBelow(path) { return .client }
        if description?.isOne(path) == true { return .description }
        return path.elementsEqual("/metrics".utf8) ? .metrics : nil
    }

    private func response(of page: Page, to request: HTTPRequest) -> HTTPResponse {
        switch page {
        case .front: return front.response(to: request)
        case .client:
            let path = request.target.prefix { $0 != UInt8(ascii: "?") }
            return ClientFiles.response(at: String(decoding: path, as: UTF8.self))
        case .description:
            return description?.response(to: request) ?? text(404, "not found\n")
        case .health:
            probe?.look(at: request)
            return text(200, "ok\n")
        case .readiness:
            guard let obstacle = readiness.obstacle else { return text(200, "ready\n") }
            var response = text(503, obstacle + "\n")
            response.headers.append(("Retry-After", "5"))
            return response
        case .metrics:
            switch metricsAccess.decide(request) {
            case .granted: return metrics.response(to: request)
            case .hidden: return text(404, "not found\n")
            case .unauthorized:
                var response = text(401, "unauthorized\n")
                response.headers.append(("WWW-Authenticate", "Bearer"))
                return response
            }
        }
    }

    private func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
            ], body: Array(text.utf8))
    }
}
