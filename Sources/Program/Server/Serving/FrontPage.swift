import Cryptography
import HTTP
import Pages

/// What the server says at `/`, where people look first: that it is there and what it is.
struct FrontPage: Sendable {
    private enum Form: String, CaseIterable {
        case html = "text/html"
        case json = "application/json"
        case text = "text/plain"
    }

    private static let style = """
        body{font:1.1rem/1.6 system-ui,sans-serif;max-width:38rem;margin:15vh auto;padding:0 1.5rem;\
        color:#1c2733;background:#f6f8fa}h1{font-weight:600}a{color:#0a5c8f}\
        img{vertical-align:-.4rem;border-radius:.5rem}\
        @media(prefers-color-scheme:dark){body{color:#dde5ec;background:#141a20}a{color:#7cc4f0}}
        """
    private let html: String

    /// - Parameter mark: whose server it is.
    init(_ mark: ServiceMark) {
        html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(mark.markup)</title>
            <link rel="icon" href="/favicon.ico">
            <style>\(Self.style)</style>
            <h1><img src="/favicon.ico" alt="" width="40" height="40"> \(mark.markup)</h1>
            <p>A sync server runs here: Lenticular. Apps keep their records on it and learn what has
            changed, at <code>/database/1/</code>, by CloudKit Web Services.</p>
            <p>To use an app, open the app. What it keeps of yours, and who acts for you, is at
            <a href="/account">your account</a>. Whether the server takes work is told at
            <a href="/readyz"><code>/readyz</code></a>.</p>
            </html>

            """
    }

    private static let json =
        #"{"server":"Lenticular","database":"/database/1/","ready":"/readyz"}"#
    private static let text = """
        Lenticular: a sync server runs here. Apps use it at /database/1/; /readyz says whether it takes work.

        """
    /// Nothing but the picture is loaded, nothing is run or sent, and no other page may show it within itself.
    private static let policy =
        "default-src 'none'; img-src 'self'; "
        + "style-src 'sha256-\(Base64.encode(SHA256.digest(Array(style.utf8))))'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    /// The page in the form that the request asks for; HTML where it does not matter.
    func response(to request: HTTPRequest) -> HTTPResponse {
        let form = Self.wanted(request.headers["accept"] ?? "")
        let body =
            switch form {
            case .html: html
            case .json: Self.json + "\n"
            case .text: Self.text
            }
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "\(form.rawValue); charset=utf-8"),
                ("Content-Security-Policy", Self.policy), ("X-Content-Type-Options", "nosniff"),
                ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-cache"), ("Vary", "Accept"),
            ], body: Array(body.utf8))
    }

    /// The form with the highest quality in an Accept header (RFC 9110 section 12.5.1), the first of
    /// equals in the order of `Form`.
    private static func wanted(_ accept: String) -> Form {
        var best = (form: Form.html, quality: 0)
        for form in Form.allCases {
            let quality = quality(of: form, in: accept)
            if quality > best.quality { best = (form, quality) }
        }
        return best.form
    }

    /// In thousandths; what names the form counts before what names it with others.
    private static func quality(of form: Form, in accept: String) -> Int {
        let group = form.rawValue.prefix { $0 != "/" } + "/*"
        var found = (precision: -1, quality: 0)
        for entry in accept.lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let names = ["*/*", String(group), form.rawValue]
            guard let name = parts.first, let precision = names.firstIndex(of: name),
                precision > found.precision
            else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            let quality = weight.map { Double($0) ?? 0 } ?? 1
            found = (precision, Int(min(max(quality, 0), 1) * 1_000))
        }
        return found.quality
    }
}
