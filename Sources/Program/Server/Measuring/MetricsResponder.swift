import HTTP

/// Answers at the metrics' own address: the page to every caller, and nothing else.
struct MetricsResponder: Responder {
    let metrics: Metrics

    func respond(to request: HTTPRequest, reply: HTTPReply) {
        guard
            request.target.prefix(while: { $0 != UInt8(ascii: "?") }).elementsEqual("/metrics".utf8)
        else { return reply.send(refusal(404, "not found; see /metrics\n")) }
        guard request.method == .get || request.method == .head else {
            var response = refusal(405, "method not allowed\n")
            response.headers.append(("Allow", "GET, HEAD"))
            return reply.send(response)
        }
        reply.send(metrics.response)
    }

    private func refusal(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }
}

extension Metrics {
    /// The page as an answer.
    var response: HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "text/plain; version=0.0.4; charset=utf-8"),
                ("Cache-Control", "no-store"),
            ], body: page())
    }
}
