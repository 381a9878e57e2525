import Accounts
import CloudModel
import Storage

// What operators looked at of somebody, on their account page.
extension Pages {
    private static let looksMax = 50

    func looksPart(_ account: AccountID) throws -> Markup {
        let looks = try accountUseCases.catalog.looks(at: account, limit: Self.looksMax)
        guard !looks.isEmpty else { return .nothing }
        let items = try looks.map { look -> Markup in
            let app = try look.container.map { try accountUseCases.label(of: $0).name }
            let what = ([look.action] + (app.map { [$0] } ?? [])).joined(separator: ", ")
            return """
                <li>\(what)<p class="quiet">\(PageDate.moment(look.time)) (\(look.kind.rawValue))</p></li>
                """
        }
        return """
            <h2>\(Phrase.operatorLooks)</h2><p>\(Phrase.operatorLooksHint)</p><ul>\(items)</ul>
            """
    }
}
