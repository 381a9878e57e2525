import Cryptography
import JSON
import Storage

// `/share-sheet`: the page that shows in a frame of another site who takes part in what its user shares
// (docs/protocol/share-sheet.md).
//
// It knows nobody: browsers send no cookie there, and it reads none. What it shows and changes, the page around it
// asks the server for.
extension Pages {
    /// The page for the frame: sites of the API token's origins may show it, and nobody else.
    func shareSheet(_ request: PageRequest) throws -> PageAnswer {
        guard
            let token = try accountUseCases.catalog.apiToken(
                hash: SHA256.digest(Array((request.query["ckAPIToken"] ?? "").utf8)))
        else { return PageAnswer(404, title: Phrase.notHere.text, .nothing) }
        let texts = String(decoding: Self.sheetTexts, as: UTF8.self)
        return PageAnswer(
            title: Phrase.sheetTitle.text,
            """
            <share-frame data-server="\(accountUseCases.publicBaseURL)" data-texts="\(texts)">\
            </share-frame>
            """,
            policy: PageAnswer.Policy(runsScript: true, frameAncestors: token.origins),
            script: elementsScript)
    }

    /// Loads the elements of the JavaScript client.
    var elementsScript: Markup {
        "<script type=\"module\" src=\"\(clientFolder)/elements.js\"></script>"
    }

    /// The texts of the elements in the reader's language, for pages of every site.
    func shareSheetTexts(_ request: PageRequest) -> PageAnswer {
        var answer = PageAnswer(
            200, type: "application/json; charset=utf-8", body: Self.sheetTexts, cacheSeconds: 300)
        answer.headers += [("Access-Control-Allow-Origin", "*"), ("Vary", "Accept-Language")]
        return answer
    }

    /// Texts of other pages that the elements say, too.
    private static let sharedTexts: Set<Phrase> = [
        .addressOrPhone, .addressOrPhoneRefused, .cancel, .copied, .copyCodes, .failure, .handOn,
        .qrCode,
        .saved, .signIn, .signOut,
    ]
    private static let elementTexts = Phrase.allCases.filter {
        sharedTexts.contains($0) || $0.key.hasPrefix("sheet")
    }

    static var sheetTexts: [UInt8] {
        var writer = JSONWriter(reserving: 8_192)
        var separator: StaticString = "{"
        for phrase in elementTexts {
            writer.raw(separator)
            writer.string(phrase.key)
            writer.raw(":")
            writer.string(phrase.text)
            separator = ","
        }
        writer.raw("}")
        return writer.bytes
    }
}
