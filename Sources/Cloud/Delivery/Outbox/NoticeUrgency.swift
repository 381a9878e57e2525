import JSON

/// Whether a notice shows or sounds anywhere, by its payload (web-services.md §9).
struct NoticeUrgency {
    /// Notices that only say that something has changed are silent.
    let isShown: Bool

    /// - Parameter payload: JSON; anything else shows nothing.
    init(of payload: [UInt8]) {
        do throws(JSONError) {
            let signal = try JSONDocument(parsing: payload).root["aps"]
            isShown = ["alert", "sound", "badge"].contains { signal?.member($0) != nil }
        } catch {
            isShown = false
        }
    }
}
