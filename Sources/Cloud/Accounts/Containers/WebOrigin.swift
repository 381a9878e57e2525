/// Where a web page comes from, in the form that browsers send (RFC 6454 §6.2): scheme, host, port.
package enum WebOrigin {
    /// A longer text is not an origin: a host has at most 253 characters.
    private static let bytesMax = 512

    /// The one spelling of the origin: lower-case, without the scheme's own port.
    ///
    /// Nil for anything but `scheme://host` with an optional port: no path, no query, no user name,
    /// no wildcard, and no opaque origin (`null`).
    package static func serialized(_ text: String) -> String? {
        guard text.utf8.count <= bytesMax, let url = WebURL(text), !url.hasUser, url.rest.isEmpty,
            url.port != 0
        else { return nil }
        return url.origin
    }
}
