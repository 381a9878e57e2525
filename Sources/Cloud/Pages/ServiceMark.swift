import Accounts
import CloudModel
import Cryptography
import Storage

/// The server's name and picture, which every page and letter shows.
package struct ServiceMark: Sendable {
    package let name: String
    /// Whatever browsers ask for by `/favicon.ico`, too.
    package let picture: NamedPicture

    /// - Parameter picture: PNG, JPEG or WebP; nil for the server's own.
    package init(name: String, picture: [UInt8]? = nil) {
        self.name = name
        self.picture = NamedPicture(picture ?? Self.own)
    }

    /// The style sheet of the server's pages, for pages that are served elsewhere.
    package static var styleSheet: String { StaticParts.style }

    /// The type of the picture, as HTTP names it.
    package var pictureType: String {
        PictureKind(of: picture.bytes)?.rawValue ?? "application/octet-stream"
    }

    /// A text as it stands in HTML, in an attribute too.
    package static func markup(of text: String) -> String { ("\(text)" as Markup).text }

    /// The name as it stands in HTML.
    package var markup: String { ("\(name)" as Markup).text }

    /// A cloud that stands still over its mountain: a PNG of 64 by 64 pixels.
    private static let own: [UInt8] =
        Base64.decode(
            """
            iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAARVBMVEUKXI8KXI8KXI8KXI9UlLyfy+jI3+/q\
            8vgKXI+Ersc9fqjC1uP1+fwveKVwocDg7PR6r9JHhaujxNit0uq32O7W5vH///8+hcMHAAAABHRSTlNAgL8A\
            qu+XUAAAAVZJREFUeNq9l4FygjAMhn9YUFtGwbrx/o+6gjAttiUhbv952sP7vguQgwYfa1DVF2bqCg9s/WXT\
            iwORQIo/KeZvXA4Fq+AgfzdAwc+G8KmPC+pJoChgKgGaAqYSoCoglIBKJ6j2Wqjr9top84clN/hmiR8c2dw5\
            pA7S0CQyEFNATTbEEbimEMcQNMX8RwXqa6C/C3eHuX3dVjQsDXH7oCPj235c8hmyrvvWG+rKAud/0Vx673IC\
            akdmWkoI7GkU5GS3AhqFoY3gLBWc3y1Qn4L6Iupv4xsaKdXKEcpo5SePvTrnzJywuNpO8lAVvVn+VmC+Q8xx\
            wczvGLDPlw1g8EUDOHzJABZfMIDH5w1g8lkDuHzOADafMYDPpw0Q8EkDJHzKABGfMEDGvxog5F8M8UaTwW8M\
            dbTVZfGxodJvttXbff3AoR559EOXeuzTD5760Vc/fCvG/x/p0adLyKbPPwAAAABJRU5ErkJggg==
            """) ?? []
}

// The pictures of the server and of apps: from here alone, and never from where somebody else keeps them.
extension Pages {
    /// Where a picture is; an address leads to one picture for ever.
    static func address(ofIcon name: String) -> String { "/sign-in/icon/\(name)" }

    /// `/favicon.ico`.
    func favicon() -> PageAnswer { Self.icon(mark.picture.bytes, seconds: 3_600) }

    /// `/sign-in/icon/{name}`.
    func icon(_ name: String) throws -> PageAnswer {
        let bytes =
            try name == mark.picture.name
            ? mark.picture.bytes : accountUseCases.catalog.icon(named: name)
        guard let bytes else { return PageAnswer(404, title: Phrase.notHere.text, .nothing) }
        return Self.icon(bytes, seconds: 31_536_000)
    }

    /// A picture that the browser takes for nothing else.
    private static func icon(_ bytes: [UInt8], seconds: Int) -> PageAnswer {
        guard let kind = PictureKind(of: bytes) else {
            return PageAnswer(404, title: Phrase.notHere.text, .nothing)
        }
        var answer = PageAnswer(200, type: kind.rawValue, body: bytes, cacheSeconds: seconds)
        answer.headers.append(("Cross-Origin-Resource-Policy", "same-origin"))
        return answer
    }
}
