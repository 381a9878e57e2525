import CloudModel
import JSON

/// A request as one span of its caller's trace, which names no person.
package struct RequestSpan: Sendable {
    package let parent: TraceParent
    /// 16 hexadecimal digits.
    package let span: String
    package let name: String
    package let end: Milliseconds
    package let nanoseconds: UInt64
    /// What is empty is left out.
    package let attributes: [(name: String, value: String)]
    package let isServerError: Bool

    package init(
        parent: TraceParent, span: String, name: String, end: Milliseconds, nanoseconds: UInt64,
        attributes: [(name: String, value: String)], isServerError: Bool
    ) {
        self.parent = parent
        self.span = span
        self.name = name
        self.end = end
        self.nanoseconds = nanoseconds
        self.attributes = attributes
        self.isServerError = isServerError
    }
}

/// Spans as OpenTelemetry's protocol takes them over HTTP, in JSON.
package enum OTLPTraces {
    private static let serverKind: Int64 = 2
    private static let errorStatus: Int64 = 2

    /// The body of a post to `/v1/traces`.
    package static func body(of spans: [RequestSpan], from source: OTLPMetrics.Source) -> [UInt8] {
        var line = JSONLine(reserving: 1_024 + spans.count * 512)
        line.beginObject()
        line.key("resourceSpans")
        line.beginArray()
        line.beginObject()
        line.key("resource")
        line.beginObject()
        line.attributes(source.attributes)
        line.endObject()
        line.key("scopeSpans")
        line.beginArray()
        line.beginObject()
        line.key("scope")
        line.beginObject()
        line.key("name")
        line.text("lenticular")
        line.endObject()
        line.key("spans")
        line.beginArray()
        for span in spans { append(span, to: &line) }
        line.endArray()
        line.endObject()
        line.endArray()
        line.endObject()
        line.endArray()
        line.endObject()
        return line.bytes
    }

    private static func append(_ span: RequestSpan, to line: inout JSONLine) {
        let end = UInt64(max(0, span.end)) &* 1_000_000
        line.beginObject()
        for (name, value) in [
            ("traceId", span.parent.trace), ("spanId", span.span),
            ("parentSpanId", span.parent.span), ("name", span.name),
            // Numbers of 64 bits are texts in this JSON.
            ("startTimeUnixNano", "\(end - min(end, span.nanoseconds))"),
            ("endTimeUnixNano", "\(end)"),
        ] {
            line.key(name)
            line.text(value)
        }
        line.key("kind")
        line.number(serverKind)
        line.attributes(span.attributes.filter { !$0.value.isEmpty })
        if span.isServerError {
            line.key("status")
            line.beginObject()
            line.key("code")
            line.number(errorStatus)
            line.endObject()
        }
        line.endObject()
    }
}
