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
        reply.send(metrics.response(to: request))
    }

    private func refusal(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }
}

extension Metrics {
    /// The page as an answer: as messages where the caller would rather have these, else as text.
    func response(to request: HTTPRequest) -> HTTPResponse {
        Self.prefersMessages(request)
            ? response(as: MetricsMessages.self) : response(as: MetricsText.self)
    }

    private func response<Format: MetricsFormat>(as format: Format.Type) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", format.contentType), ("Cache-Control", "no-store"),
                ("Vary", "Accept"),
            ], body: page(as: format))
    }

    /// Whether messages are the first that it asks for, as Prometheus does where it keeps native histograms.
    private static func prefersMessages(_ request: HTTPRequest) -> Bool {
        let first = request.headers["accept"]?.lowercased().prefix { $0 != "," } ?? ""
        let words = first.split(separator: ";").map { word in
            String(word.filter { !$0.isWhitespace })
        }
        return words.first == MetricsMessages.mediaType && words.contains("encoding=delimited")
            && words.contains("proto=io.prometheus.client.metricfamily")
    }
}
