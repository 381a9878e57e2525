import CWebClient
import Cryptography
import HTTP

/// The JavaScript client, as pages of any origin load it: `/client/VERSION/cloudkit.js` and what belongs to it.
///
/// A file of a version never changes, so browsers keep it. `/client` lists the files with their integrity hashes.
enum ClientFiles {
    private struct File {
        let name: String
        let bytes: [UInt8]
        /// What a page may hold the file against (Subresource Integrity).
        let integrity: String
    }

    private static let root = "/client"
    private static let files: [File] = {
        let found = lenticular_client_files()
        return UnsafeBufferPointer(start: found.first, count: found.count).map { file in
            let bytes = [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.byteCount))
            return File(
                name: String(cString: file.name), bytes: bytes,
                integrity: "sha256-" + Base64.encode(SHA256.digest(bytes)))
        }
    }()

    /// Where the files of this version are, below the server's own address.
    static let folder = "\(root)/\(ProgramVersion.text)"

    /// Whether an address, without its query, is one of these.
    static func isBelow(_ path: some Collection<UInt8>) -> Bool {
        guard path.starts(with: root.utf8) else { return false }
        let next = path.dropFirst(root.utf8.count).first
        return next == nil || next == UInt8(ascii: "/")
    }

    /// The elements by which a page loads the client from a server, with the integrity of each file.
    ///
    /// - Parameter baseURL: the server's address; empty for addresses that begin with its path.
    static func elements(baseURL: String) -> [String] {
        files.compactMap { file in
            let address = "\(baseURL)\(folder)/\(file.name)"
            let check = "integrity=\"\(file.integrity)\" crossorigin"
            switch file.name {
            case "cloudkit.js", "store.js", "elements.js":
                return "<link rel=\"modulepreload\" href=\"\(address)\" \(check)>"
            case "cloudkit.cjs": return "<script src=\"\(address)\" \(check)></script>"
            default: return nil
            }
        }
    }

    /// The answer for an address, without its query, that `isBelow`.
    static func response(at path: String) -> HTTPResponse {
        if path == root || path == root + "/" { return list }
        guard let file = files.first(where: { path == "\(folder)/\($0.name)" }) else {
            return text(404, "not found; this server has \(folder)/cloudkit.js\n")
        }
        var headers = [
            ("Content-Type", "\(type(of: file)); charset=utf-8"),
            ("Cache-Control", "public, max-age=31536000, immutable"),
            ("Access-Control-Allow-Origin", "*"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        if file.name.hasSuffix(".js") {
            let types = file.name.dropLast(2) + "d.ts"
            headers.append(("X-TypeScript-Types", "./\(types)"))
        }
        return HTTPResponse(status: 200, headers: headers, body: file.bytes)
    }

    private static func type(of file: File) -> String {
        file.name.hasSuffix("ts") ? "application/typescript" : "text/javascript"
    }

    /// What the server has, for people.
    private static var list: HTTPResponse {
        let hashes = files.map { "\(folder)/\($0.name) \($0.integrity)" }
        let lines =
            ["The JavaScript client, as a module and for classic scripts:", ""]
            + elements(baseURL: "") + [""] + hashes
        return text(200, lines.joined(separator: "\n") + "\n")
    }

    private static func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-cache"),
                ("Access-Control-Allow-Origin", "*"), ("X-Content-Type-Options", "nosniff"),
            ], body: Array(text.utf8))
    }
}
