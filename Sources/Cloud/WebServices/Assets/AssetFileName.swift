import Cryptography

/// The name that a client gave to a file in its link, made harmless.
struct AssetFileName {
    private static let bytesMax = 200

    /// Nil when the client gave no name that a file could have.
    private let text: String?

    /// - Parameter encoded: the last part of the path; a path that still has the placeholder gives no name.
    init(encoded: ArraySlice<UInt8>) {
        guard let decoded = PercentEncoding.text(encoded), decoded != "${f}" else {
            text = nil
            return
        }
        let last = decoded.split { $0 == "/" || $0 == "\\" }.last ?? ""
        let plain = last.unicodeScalars.filter {
            $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
                && $0.properties.generalCategory != .format
        }
        var name = String(String.UnicodeScalarView(plain))
        while name.utf8.count > Self.bytesMax { name.removeLast() }
        text = name.isEmpty || name == "." || name == ".." ? nil : name
    }

    /// The value of `Content-Disposition` (RFC 6266): browsers must never show the file in place.
    var disposition: String {
        guard let text else { return "attachment" }
        let plain = text.unicodeScalars.map { Self.isPlain($0) || $0 == " " ? Character($0) : "_" }
        return "attachment; filename=\"\(String(plain))\"; "
            + "filename*=UTF-8''\(PercentEncoding.encode(text))"
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_": true
        default: false
        }
    }

    /// The type by the name's ending: one of the few types that can run nothing, or else just bytes.
    var type: String {
        let ending = text.flatMap { $0.split(separator: ".").last.map { $0.lowercased() } }
        return ending.flatMap { Self.types[$0] } ?? "application/octet-stream"
    }

    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "mp3": "audio/mpeg",
        "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
        "mov": "video/quicktime", "webm": "video/webm",
    ]
}
