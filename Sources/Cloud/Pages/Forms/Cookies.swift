/// The cookies of the pages, by what they are for.
struct Cookies: Sendable {
    enum Name: String {
        /// The session of the signed-in person.
        case session
        /// The mark of a browser in which an account has signed in before.
        case device
        /// What shows that a form is ours.
        case form
        /// A sign-in that goes on at an identity provider.
        case provider
        /// The language that somebody or an app chose for them.
        case language
    }

    /// Whether browsers reach the server by TLS alone.
    private let areSecure: Bool
    private let header: String

    init(header: String?, areSecure: Bool) {
        self.header = header ?? ""
        self.areSecure = areSecure
    }

    /// The first cookie of that name; nil when there is none.
    subscript(_ name: Name) -> String? {
        let wanted = fullName(name) + "="
        for pair in header.split(separator: ";") {
            let pair = pair.drop { $0 == " " || $0 == "\t" }
            if pair.hasPrefix(wanted) { return String(pair.dropFirst(wanted.count)) }
        }
        return nil
    }

    /// A header field that sets a cookie.
    ///
    /// Scripts never see it. Requests from other sites bring it only when they lead people to a
    /// page here.
    ///
    /// - Parameter seconds: nil for as long as the browser runs, 0 to remove it.
    func setting(_ name: Name, to value: String, seconds: Int?) -> (name: String, value: String) {
        var field = "\(fullName(name))=\(value); Path=/; HttpOnly; SameSite=Lax"
        if let seconds { field += "; Max-Age=\(seconds)" }
        if areSecure { field += "; Secure" }
        return ("Set-Cookie", field)
    }

    /// With the prefix that lets nobody else of the domain set it, where browsers know the server by TLS.
    private func fullName(_ name: Name) -> String {
        (areSecure ? "__Host-" : "") + "lenticular-\(name.rawValue)"
    }
}
