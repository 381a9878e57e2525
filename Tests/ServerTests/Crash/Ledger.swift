/// A promise of the server that a history breaks.
struct Violation: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case acknowledgedLost, lostUpdate, falseConflict, halfBatch, refusedVisible
        case deletionUndone, staleRead, tagReused, tagWentBack, tokenWentBack, tokenExpired
        case feedOrder, feedIncomplete, unknownContent, oddAnswer, pastChanged
    }

    let kind: Kind
    let life: Int
    let text: String

    var description: String { "life \(life), \(kind.rawValue): \(text)" }
}

/// What has to stay true from one life of the server to the next.
struct Ledger {
    private struct Content: Equatable {
        let location: UserZone
        let name: String
        let value: String
    }

    /// What the writers tried.
    struct Attempt {
        let location: UserZone
        let name: String
        let life: Int
        let isRefused: Bool
    }

    private var contents: [Int64: Content] = [:]
    private var tags: [String: Int64] = [:]
    private(set) var attempts: [String: Attempt] = [:]
    /// The highest number ever seen, in a tag or a token.
    private(set) var highest: Int64 = 0

    /// The tag under which a value was saved, once somebody has seen it.
    func tag(of value: String) -> Int64? { tags[value] }

    mutating func attempted(_ value: String, _ attempt: Attempt) { attempts[value] = attempt }

    mutating func reached(_ position: Int64) { highest = max(highest, position) }

    /// Takes note of a version that was acknowledged or seen; says what is wrong with it.
    mutating func note(
        _ version: RecordVersion, _ location: UserZone, _ name: String, by: String
    ) -> (Violation.Kind, String)? {
        highest = max(highest, version.tag)
        let content = Content(location: location, name: name, value: version.value)
        let said = "\(by) has \(name) of \(location) as \(version)"
        if let known = contents[version.tag], known != content {
            return (.tagReused, "\(said), but that tag is \(known.value) of \(known.name)")
        }
        if let tag = tags[version.value], tag != version.tag {
            return (.tagReused, "\(said), but that value has the tag \(tag)")
        }
        contents[version.tag] = content
        tags[version.value] = version.tag
        guard let attempt = attempts[version.value] else {
            return (.unknownContent, "\(said), which nobody wrote")
        }
        guard attempt.location == location, attempt.name == name else {
            return (.unknownContent, "\(said), which was written to \(attempt.name)")
        }
        return attempt.isRefused ? (.refusedVisible, "\(said), which was refused") : nil
    }
}
