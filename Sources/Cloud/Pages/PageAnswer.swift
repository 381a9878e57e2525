import HTTP

/// What a page answers with.
struct PageAnswer: Sendable {
    /// What a page may do, beside being shown.
    struct Policy: Sendable {
        /// Where its forms may lead on to, besides this server; sources of a Content-Security-Policy.
        var formTargets: [String] = []
        /// Whether its one script runs.
        var runsScript = false
        /// Whether that asks this server for something.
        var sendsRequests = false
        /// The sites that may show it within their own pages; sources of a Content-Security-Policy.
        var frameAncestors: [String] = []
    }

    /// What is shown or sent.
    private enum Content: Sendable {
        /// A page in the language in which it was made.
        ///
        /// - Parameters:
        ///   - name: what the browser calls it.
        ///   - head: what its head holds beside.
        case page(name: String, heading: String, head: Markup, Markup, Phrasebook)
        case other(type: String, [UInt8], cacheSeconds: Int)
    }

    var status: Int
    /// Fields beside those of every page.
    var headers: [(name: String, value: String)] = []
    private let content: Content
    var policy = Policy()
    /// What the operator is to be told; nil where all went well.
    var failure: String?
    /// What follows the body; nil for nothing.
    var stream: StreamedBody?

    /// A page.
    ///
    /// - Parameter said: what came of a form: the browser's title begins with it, which screen readers read
    ///   first.
    init(
        _ status: Int = 200, title: String, said: String? = nil, _ content: Markup,
        policy: Policy = Policy(), script: Markup = .nothing
    ) {
        self.status = status
        self.policy = policy
        self.content = .page(
            name: [said, title].compactMap { $0 }.joined(separator: " · "), heading: title,
            head: script, content, Phrasebook.current)
    }

    /// Anything but a page.
    ///
    /// - Parameter cacheSeconds: how long browsers may keep it; 0 for not at all.
    init(_ status: Int, type: String, body: [UInt8], cacheSeconds: Int = 0) {
        self.status = status
        content = .other(type: type, body, cacheSeconds: cacheSeconds)
    }

    /// Sends the browser on, by GET.
    static func redirect(to address: String) -> PageAnswer {
        var answer = PageAnswer(303, type: "text/plain; charset=utf-8", body: [])
        answer.headers.append(("Location", address))
        return answer
    }

    /// What the browser gets.
    ///
    /// - Parameter mark: whose server it is, which every page says.
    func response(under mark: ServiceMark) -> HTTPResponse {
        let (type, body, cacheSeconds): (String, [UInt8], Int) =
            switch content {
            case .page(let name, let heading, let head, let content, let book):
                (
                    "text/html; charset=utf-8",
                    Self.document(name, heading, head, content, book, mark), 0
                )
            case .other(let type, let body, let cacheSeconds): (type, body, cacheSeconds)
            }
        var fields = [
            ("Content-Type", type), ("Content-Security-Policy", contentPolicy),
            ("X-Content-Type-Options", "nosniff"),
            // A form of a page without a referrer would come without an origin, too.
            ("Referrer-Policy", "same-origin"),
            ("Cache-Control", cacheSeconds > 0 ? "public, max-age=\(cacheSeconds)" : "no-store"),
        ]
        // Browsers without frame-ancestors know no list.
        if policy.frameAncestors.isEmpty { fields.append(("X-Frame-Options", "DENY")) }
        fields += headers
        var response = HTTPResponse(status: status, headers: fields, body: body)
        response.stream = stream
        return response
    }

    private static func document(
        _ name: String, _ heading: String, _ head: Markup, _ content: Markup, _ book: Phrasebook,
        _ mark: ServiceMark
    ) -> [UInt8] {
        let icon = Pages.address(ofIcon: mark.picture.name)
        let page: Markup = """
            <!doctype html>
            <html lang="\(book.tag)" dir="\(book.direction)">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(name) · \(mark.name)</title>
            <link rel="stylesheet" href="/sign-in/style.css">
            <link rel="icon" href="\(icon)">
            \(head)
            <header><img src="\(icon)" alt="" width="32" height="32"><bdi>\(mark.name)</bdi></header>
            <main>
            <h1>\(heading)</h1>
            \(content)
            </main>
            </html>

            """
        return Array(page.text.utf8)
    }

    /// The page loads and runs only what comes from this server.
    ///
    /// No other page may show it within itself, unless the policy names it. A script could not make markup from text.
    private var contentPolicy: String {
        let ancestors =
            policy.frameAncestors.isEmpty
            ? "'none'" : policy.frameAncestors.joined(separator: " ")
        let targets = (["'self'"] + policy.formTargets).joined(separator: " ")
        return "default-src 'none'; style-src 'self'; img-src 'self' data:; "
            + (policy.runsScript ? "script-src 'self'; " : "")
            + (policy.sendsRequests ? "connect-src 'self'; " : "")
            + "form-action \(targets); base-uri 'none'; frame-ancestors \(ancestors); "
            + "require-trusted-types-for 'script'; trusted-types 'none'"
    }
}
