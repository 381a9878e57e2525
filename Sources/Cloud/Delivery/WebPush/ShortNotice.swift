import JSON

/// What is left of a notice that is too long for a browser's push service: which subscription has something new.
enum ShortNotice {
    private static let kinds = ["qry", "fet", "met"]

    /// - Parameter payload: of a notice (web-services.md §9); of anything else nothing is left.
    static func bytes(of payload: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.raw("{\"aps\":{},\"ck\":{\"p\":1")
        do throws(JSONError) {
            let told = try JSONDocument(parsing: payload).root["ck"]
            if let identifier = told?["nid"]?.string {
                writer.member("nid", identifier)
            }
            for kind in kinds {
                guard let subscription = told?.member(kind)?["sid"]?.string else { continue }
                writer.raw(",")
                writer.string(kind)
                writer.raw(":{\"sid\":")
                writer.string(subscription)
                writer.raw("}")
            }
        } catch {
            // NB: what cannot be read names no subscription.
        }
        writer.raw("}}")
        return writer.bytes
    }
}
