import CloudModel
import Foundation
import HTTP
import Testing
import WebServices

@testable import Server

@Suite("Metrics")
struct OperatingMetricsTests {
    private func page(_ metrics: Metrics) -> [String] {
        String(decoding: metrics.page(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("Requests are counted by operation, database, status and code")
    func requests() {
        let metrics = Metrics(version: "9.9", commit: "1f2e3d", startedAt: 5_000)
        for loop in 0..<3 {
            metrics.record(
                RequestObservation(
                    requestID: "", operation: "records/lookup", database: .private, status: 200,
                    bytesIn: 10, bytesOut: 100, durationNanoseconds: 200_000, loop: loop))
        }
        metrics.record(
            RequestObservation(
                requestID: "", operation: "records/modify", database: .public, status: 503,
                code: .tryAgainLater, durationNanoseconds: 20_000_000_000))
        let lines = page(metrics)
        let name = "lenticular_requests_total"
        #expect(
            lines.contains(
                #"\#(name){operation="records/lookup",database="private",status="200",code=""} 3"#))
        #expect(
            lines.contains(
                #"\#(name){operation="records/modify",database="public",status="503","#
                    + #"code="TRY_AGAIN_LATER"} 1"#))
        let seconds = "lenticular_request_duration_seconds"
        #expect(lines.contains(#"\#(seconds)_bucket{operation="records/lookup",le="0.0001"} 0"#))
        #expect(lines.contains(#"\#(seconds)_bucket{operation="records/lookup",le="0.00025"} 3"#))
        #expect(lines.contains(#"\#(seconds)_bucket{operation="records/lookup",le="+Inf"} 3"#))
        #expect(lines.contains(#"\#(seconds)_bucket{operation="records/modify",le="10"} 0"#))
        #expect(lines.contains(#"\#(seconds)_count{operation="records/modify"} 1"#))
        #expect(lines.contains("lenticular_request_body_bytes_total 30"))
        #expect(lines.contains("lenticular_response_body_bytes_total 300"))
        #expect(lines.contains(#"lenticular_build_info{version="9.9",commit="1f2e3d"} 1"#))
        #expect(lines.contains("process_start_time_seconds 5"))
        #expect(lines.contains { $0.hasPrefix("process_open_fds ") })
    }

    @Test("Callers are counted by kind, and by whether their rates let them pass")
    func callers() {
        let metrics = Metrics(version: "9.9", commit: "1f2e3d", startedAt: 0)
        metrics.observeCallers {
            [.user: RateBudgets.Counts(admitted: 7, throttled: 2), .apiToken: RateBudgets.Counts()]
        }
        let name = "lenticular_caller_requests_total"
        let lines = page(metrics)
        #expect(lines.contains(#"\#(name){caller="user",outcome="admitted"} 7"#))
        #expect(lines.contains(#"\#(name){caller="user",outcome="throttled"} 2"#))
        #expect(lines.contains(#"\#(name){caller="api_token",outcome="throttled"} 0"#))
    }

    @Test("Every line of the page is a comment or a sample, and every sample has its type")
    func pageIsWellFormed() {
        let metrics = Metrics(version: "1\"\\\n", startedAt: 0)
        metrics.gauge("lenticular_connections", "Open connections.") { 12 }
        metrics.counter("lenticular_things_total", "Things.") { 1.5 }
        metrics.record(RequestObservation(requestID: "", status: 404))
        var types: [String: String] = [:]
        for line in page(metrics) {
            if line.hasPrefix("# HELP ") { continue }
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") {
                types[String(words[2])] = String(words[3])
                continue
            }
            let name = String(line.prefix { $0 != "{" && $0 != " " })
            let family = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }.map {
                String(name.dropLast($0.count))
            }
            #expect(types[name] != nil || family.flatMap { types[$0] } == "histogram", "\(line)")
            #expect(words.last.flatMap { Double($0) } != nil || line.hasSuffix("+Inf"), "\(line)")
        }
        #expect(types["lenticular_connections"] == "gauge")
        #expect(types["lenticular_things_total"] == "counter")
    }

    @Test("Requests outside the route table make one series, and series are bounded")
    func cardinality() {
        let metrics = Metrics(version: "1", startedAt: 0)
        let before = page(metrics).count
        for status in 0..<10_000 {
            metrics.record(RequestObservation(requestID: "", status: 404, loop: status))
        }
        // A count, a histogram of 17 buckets with its sum and count.
        #expect(page(metrics).count - before <= 20)
        for number in 0..<(RequestCounts.seriesCountMax * 2) {
            metrics.record(RequestObservation(requestID: "", operation: "o\(number)", status: 200))
        }
        let count = page(metrics).count { $0.hasPrefix("lenticular_requests_total{") }
        #expect(count <= RequestCounts.seriesCountMax + 2)
        #expect(page(metrics).contains { $0.contains(#"operation="overflow""#) })
    }

    @Test("Who asks for messages gets the same page as such, with latencies in native histograms")
    func messages() throws {
        let metrics = Metrics(version: "9.9", commit: "1f2e3d", startedAt: 5_000)
        let times: [UInt64] = [200_000, 210_000, 3_000_000, 20_000_000_000]
        for time in times {
            metrics.record(
                RequestObservation(
                    requestID: "", operation: "records/lookup", database: .private, status: 200,
                    durationNanoseconds: time))
        }
        let response = metrics.response(to: request(Self.near, [("Accept", Self.prometheus)]))
        #expect(response.headers.contains { $0.value == Self.messageType })
        let families = try ProtocolMessage.list(response.body)
        let names = families.compactMap { $0.text(1) }
        let told = page(metrics).filter { $0.hasPrefix("# TYPE ") }
        #expect(names == told.map { String($0.split(separator: " ")[2]) })
        func family(_ name: String) throws -> ProtocolMessage {
            try #require(families.first { $0.text(1) == name })
        }
        let info = try #require(try family("lenticular_build_info").messages(4).first)
        #expect(try info.messages(1).compactMap { $0.text(2) } == ["9.9", "1f2e3d"])
        #expect(try info.messages(2).first?.double(1) == 1)
        let count = try #require(try family("lenticular_requests_total").messages(4).first)
        #expect(try count.messages(3).first?.double(1) == 4)

        let latency = try family("lenticular_request_duration_seconds")
        #expect(latency.number(3) == 4)
        let histogram = try #require(try latency.messages(4).first?.messages(7).first)
        #expect(histogram.number(1) == 4)
        #expect(abs(try #require(histogram.double(2)) - 20.003_41) < 1e-9)
        #expect(histogram.signed(5) == 3)
        #expect(try histogram.messages(3).last?.double(2) == .infinity)
        #expect(try histogram.messages(3).last?.number(1) == 4)
        let span = try #require(try histogram.messages(12).first)
        let first = try #require(span.signed(1))
        var counts: [Int64] = []
        for delta in try histogram.numbers(13) { counts.append((counts.last ?? 0) + delta) }
        #expect(counts.count == Int(try #require(span.number(2))))
        var left = times.map { Double($0) / 1e9 }
        for (offset, count) in counts.enumerated() {
            let number = Double(first + Int64(offset))
            let (lower, upper) = (exp2((number - 1) / 8), exp2(number / 8))
            let within = left.filter { $0 > lower && $0 <= upper }
            #expect(within.count == Int(count), "\(offset)")
            left.removeAll { within.contains($0) }
        }
        #expect(left.isEmpty)
    }

    @Test(
        "Who does not ask for messages first gets text",
        arguments: [
            nil, "*/*", "text/plain", "application/vnd.google.protobuf",
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
            "application/openmetrics-text;version=1.0.0,\(OperatingMetricsTests.prometheus)", "",
            ";,;",
        ] as [String?])
    func text(_ accepted: String?) {
        let metrics = Metrics(version: "9.9", startedAt: 5_000)
        let headers = accepted.map { [(name: "Accept", value: $0)] } ?? []
        let response = metrics.response(to: request(Self.near, headers))
        let type = "text/plain; version=0.0.4; charset=utf-8"
        #expect(response.headers.contains { $0.value == type })
        #expect(response.body.starts(with: "# HELP lenticular_build_info".utf8))
    }

    private static let near = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
    /// As it asks where it keeps native histograms.
    private static let prometheus =
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
        + "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    private static let messageType =
        "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
        + "encoding=delimited"

    private func request(
        _ peer: Peer, _ headers: [(name: String, value: String)] = []
    ) -> HTTPRequest {
        HTTPRequest(
            id: "", method: .get, target: Array("/metrics".utf8), headers: HTTPHeaders(headers),
            body: [], peer: peer, loop: 0)
    }

    @Test("At the addresses of the protocol the page is for whoever bears the token, from anywhere")
    func access() {
        let near = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
        let far = Peer(address: "192.0.2.1", isLoopback: false, isTLS: true)
        let open = MetricsAccess(token: "s3cret")
        for peer in [near, far] {
            #expect(MetricsAccess(token: nil).decide(request(peer)) == .hidden)
            #expect(MetricsAccess(token: "").decide(request(peer)) == .hidden)
            let empty = request(peer, [("Authorization", "Bearer ")])
            #expect(MetricsAccess(token: "").decide(empty) == .hidden)
            #expect(open.decide(request(peer)) == .unauthorized)
            for right in ["Bearer s3cret", "bearer s3cret"] {
                #expect(open.decide(request(peer, [("Authorization", right)])) == .granted)
            }
            for wrong in ["Bearer s3cre", "Bearer s3cret1", "s3cret", "Basic s3cret", "Bearer "] {
                #expect(open.decide(request(peer, [("Authorization", wrong)])) == .unauthorized)
            }
        }
    }
}
