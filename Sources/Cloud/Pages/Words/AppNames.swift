import Accounts
import CloudModel

// How pages name an app: with its picture and its own page, where the operator gave them.
extension Pages {
    /// One line: picture and name, and whether it is the development version of the app.
    static func named(_ app: AppLabel, _ environment: Environment) -> Markup {
        let name: Markup = "<strong>\(app.name)</strong>"
        let text =
            environment == .development ? Phrase.inDevelopment.markup(["app": name]) : name
        return "<span class=\"app\">\(picture(app))<span>\(text)</span></span>"
    }

    /// The app that a page is about: picture, name, and the site by which people know it.
    static func introduced(_ app: AppLabel) -> Markup {
        guard app.icon != nil || app.website != nil else { return .nothing }
        let site: Markup =
            app.website.map { website in
                """
                <br><a href="\(website)" target="_blank" rel="noopener noreferrer">\
                \(app.site ?? website)</a>
                """
            } ?? .nothing
        return """
            <p class="app">\(picture(app))<span><strong>\(app.name)</strong>\(site)</span></p>
            """
    }

    private static func picture(_ app: AppLabel) -> Markup {
        app.icon.map { "<img src=\"\(address(ofIcon: $0))\" alt=\"\">" } ?? .nothing
    }
}
