import CConsole
import Cryptography
import HTTP
import Pages

/// The console: one document at every address below `/console/`, and the files that it loads.
///
/// Everybody whose network address is allowed gets them. They hold nothing of the server's data: that comes from
/// `/console/api`, to operators alone.
struct ConsolePages: Sendable {
    private struct File: Sendable {
        let type: String
        let bytes: [UInt8]
        /// Made once and as small as it gets: a browser far away waits for them all.
        let gzip: [UInt8]?

        init(type: String, bytes: [UInt8]) {
            self.type = type
            self.bytes = bytes
            gzip = type.hasPrefix("text/") ? StoredGzip.bytes(of: bytes) : nil
        }
    }

    private static let root = "/console/"
    /// The shared style sheet, beside the console's own.
    private static let pagesStyle = "pages.css"
    private static let icon = "icon"
    /// What the first paint needs, so that no file waits for another one.
    private static let modules = [
        "app.js", "api.js", "address.js", "parts.js", "lit-core.min.js",
    ]

    private let files: [String: File]
    /// Whose name changes with the contents of any file, so that browsers keep them for ever.
    private let folder: String
    private let document: File
    private let hasLibraries: Bool

    /// - Parameters:
    ///   - mark: whose server it is.
    ///   - baseURL: where apps and people reach the server.
    ///   - found: the files of the build.
    init(
        mark: ServiceMark, baseURL: String,
        _ found: lenticular_console_files = lenticular_console_files()
    ) {
        var files: [String: File] = [:]
        for file in UnsafeBufferPointer(start: found.first, count: found.count) {
            let name = String(cString: file.name)
            files[name] = File(
                type: Self.type(of: name),
                bytes: ConsoleText.served(
                    [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.byteCount)),
                    of: name))
        }
        files[Self.pagesStyle] = File(
            type: Self.type(of: Self.pagesStyle), bytes: Array(ServiceMark.styleSheet.utf8))
        files[Self.icon] = File(type: mark.pictureType, bytes: mark.picture.bytes)
        self.files = files
        hasLibraries = found.hasLibraries != 0
        let digest = files.sorted { $0.key < $1.key }.reduce(into: [UInt8]()) {
            $0 = SHA256.digest($0 + SHA256.digest($1.value.bytes))
        }
        folder = "\(Self.root)files/\(digest.prefix(8).map { String($0, radix: 16) }.joined())/"
        document = File(
            type: "text/html; charset=utf-8",
            bytes: Array(
                (hasLibraries
                    ? Self.document(folder, mark, baseURL) : Self.missing(folder, mark)).utf8))
    }

    /// The answer for an address without its query; nil for what is none of the console's.
    func response(at path: String, takesGzip: Bool) -> HTTPResponse? {
        if path == "/" || path + "/" == Self.root { return Self.redirect }
        guard path.hasPrefix(Self.root) else { return nil }
        guard path.hasPrefix(Self.root + "files/") else {
            return Self.response(
                document, takesGzip, kept: "no-cache", policy: Self.policy)
        }
        guard path.hasPrefix(folder), let file = files[String(path.dropFirst(folder.count))] else {
            return nil
        }
        return Self.response(
            file, takesGzip, kept: "public, max-age=31536000, immutable",
            policy: Self.filePolicy)
    }

    private static let redirect = HTTPResponse(
        status: 303, headers: [("Location", root), ("Cache-Control", "no-store")])

    private static let filePolicy = "default-src 'none'; frame-ancestors 'none'"
    /// Lit makes its templates' markup by a policy of its own; nothing else makes markup.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types lit-html"

    private static let gzipped = [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]

    private static func response(
        _ file: File, _ takesGzip: Bool, kept: String, policy: String
    ) -> HTTPResponse {
        let gzip = takesGzip ? file.gzip : nil
        return HTTPResponse(
            status: 200,
            headers: (gzip == nil ? [] : Self.gzipped) + [
                ("Content-Type", file.type), ("Cache-Control", kept),
                ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
                ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
                ("Cross-Origin-Opener-Policy", "same-origin"),
            ], body: gzip ?? file.bytes)
    }

    private static func type(of name: String) -> String {
        if name.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        return name.hasSuffix(".css") ? "text/css; charset=utf-8" : "text/plain; charset=utf-8"
    }

    private static func document(
        _ folder: String, _ mark: ServiceMark, _ baseURL: String
    ) -> String {
        """
        \(head(folder, mark))
        <meta name="lenticular-server" content="\(ServiceMark.markup(of: baseURL))">
        <meta name="lenticular-name" content="\(mark.markup)">
        <meta name="lenticular-client" content="\(ClientFiles.folder)/cloudkit.js">
        <meta name="lenticular-files" content="\(folder)">
        \(modules.map { "<link rel=\"modulepreload\" href=\"\(folder)\($0)\">" }.joined(separator: "\n"))
        <script type="module" src="\(folder)app.js"></script>
        <script async id="charts" src="\(folder)uPlot.iife.min.js"></script>
        <body class="console"><console-app></console-app>
        <noscript><main><h1>Console</h1><p>The console needs JavaScript.</p></main></noscript>
        </html>

        """
    }

    private static func missing(_ folder: String, _ mark: ServiceMark) -> String {
        """
        \(head(folder, mark))
        <header><img src="\(folder)\(icon)" alt="" width="32" height="32"><bdi>\(mark.markup)</bdi></header>
        <main><h1>The console is not in this build</h1>
        <p>It needs two libraries, lit and uPlot, when the server is built. In the server's source, run</p>
        <pre>.ci/console-libraries
        make release</pre>
        <p>and start the server again. On other systems than Debian, set CONSOLE_LIBRARIES to a folder with
        <code>lit/lit-core.min.js</code>, <code>uplot/dist/uPlot.iife.min.js</code> and
        <code>uplot/dist/uPlot.min.css</code> before the build.</p>
        <p>The command line and <code>/console/api</code> work without it.</p></main>
        </html>

        """
    }

    private static func head(_ folder: String, _ mark: ServiceMark) -> String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Console · \(mark.markup)</title>
        <link rel="stylesheet" href="\(folder)\(pagesStyle)">
        <link rel="stylesheet" href="\(folder)console.css">
        <link rel="icon" href="\(folder)\(icon)">
        """
    }
}
