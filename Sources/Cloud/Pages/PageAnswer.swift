import HTTP

/// What a page answers with.
struct PageAnswer: Sendable {
    /// What a page may do beside showing itself.
    struct Policy: Sendable {
        /// Where its forms may lead on to, besides this server; sources of a Content-Security-Policy.
        var formTargets: [String] = []
        /// Whether its one script runs.
        var runsScript = false
    }

    var status: Int
    /// Fields beside those of every page.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]
    var type = "text/html; charset=utf-8"
    var policy = Policy()
    var isCacheable = false
    /// What the operator is to be told; nil where all went well.
    var failure: String?
    /// What follows the body; nil for nothing.
    var stream: StreamedBody?

    /// A page.
    init(
        _ status: Int = 200, title: String, _ content: Markup, policy: Policy = Policy(),
        script: Markup = .nothing
    ) {
        self.status = status
        self.policy = policy
        let page: Markup = """
            <!doctype html>
            <html lang="\(Phrasebook.current.tag)" dir="\(Phrasebook.current.direction)">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <link rel="stylesheet" href="/sign-in/style.css">
            \(script)
            <main>
            <h1>\(title)</h1>
            \(content)
            </main>
            </html>

            """
        body = Array(page.text.utf8)
    }

    /// Anything else than a page.
    init(_ status: Int, type: String, body: [UInt8], isCacheable: Bool = false) {
        self.status = status
        self.type = type
        self.body = body
        self.isCacheable = isCacheable
    }

    /// Sends the browser on, by GET.
    static func redirect(to address: String) -> PageAnswer {
        var answer = PageAnswer(303, type: "text/plain; charset=utf-8", body: [])
        answer.headers.append(("Location", address))
        return answer
    }

    var response: HTTPResponse {
        var fields = [
            ("Content-Type", type), ("Content-Security-Policy", contentPolicy),
            ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
            // A form of a page without a referrer would come without an origin, too.
            ("Referrer-Policy", "same-origin"),
            ("Cache-Control", isCacheable ? "public, max-age=300" : "no-store"),
        ]
        fields += headers
        var response = HTTPResponse(status: status, headers: fields, body: body)
        response.stream = stream
        return response
    }

    /// The page loads and runs only what comes from this server.
    ///
    /// No other page may show it within itself. A script could not make markup from text.
    private var contentPolicy: String {
        let targets = (["'self'"] + policy.formTargets).joined(separator: " ")
        return "default-src 'none'; style-src 'self'; img-src 'self' data:; "
            + (policy.runsScript ? "script-src 'self'; " : "")
            + "form-action \(targets); base-uri 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'"
    }
}
