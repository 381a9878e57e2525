import CloudModel
import JSON

/// The payload by which one subscription hears of one change (web-services.md §9).
struct NoticePayload: Sendable {
    /// What happened to a record (rulings.md 58).
    enum Reason: Int64, Sendable {
        case created = 1
        case updated = 2
        case deleted = 3
    }

    /// What the notice is about.
    enum Subject: Sendable {
        case query(record: RecordName, Reason, fields: NoticeFields)
        case zone
        case database
        /// Stands for notices that were thrown away because too many waited.
        case merged
    }

    /// How many bytes push services accept.
    static let bytesMax = 4_096

    let container: ContainerID?
    let identifier: String
    let user: UserRecordName
    let subscription: SubscriptionID
    let scope: DatabaseScope
    /// The zone; nil for no particular zone.
    let zone: (name: ZoneName, owner: UserRecordName)?
    let subject: Subject
    let info: NotificationInfo

    /// The parts that a payload leaves out when it is too large, in this order (semantics.md §5).
    ///
    /// What remains always fits.
    private enum Part: Int, Comparable, CaseIterable {
        case fields, container, ofKind, sound, launchImage, actionKey, texts, arguments, keys

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    /// The payload, at most `bytesMax` bytes long.
    ///
    /// - Parameter badge: the number that the app's badge should show; nil for a notice that does not count.
    func bytes(badge: Int64?) -> [UInt8] {
        let whole = bytes(badge, without: nil)
        guard whole.count > Self.bytesMax else { return whole }
        var pruned = whole
        for part in Part.allCases {
            pruned = bytes(badge, without: part)
            if pruned.count <= Self.bytesMax { break }
        }
        return pruned
    }

    /// - Parameter last: leaves out this part and all before it; nil leaves out nothing.
    private func bytes(_ badge: Int64?, without last: Part?) -> [UInt8] {
        func has(_ part: Part) -> Bool { last.map { $0 < part } ?? true }
        var writer = JSONWriter(reserving: 384)
        writer.raw("{\"aps\":")
        appendAps(badge, has, to: &writer)
        writer.raw(",\"ck\":{\"ce\":2")
        if has(.container), let container {
            writer.member("cid", container.name)
        }
        writer.member("ckuserid", user.text)
        writer.member("nid", identifier)
        if isMerged || last != nil { writer.raw(",\"p\":1") }
        appendSubject(has, to: &writer)
        writer.raw("}}")
        return writer.bytes
    }

    private var isMerged: Bool { if case .merged = subject { true } else { false } }

    private func appendSubject(_ has: (Part) -> Bool, to writer: inout JSONWriter) {
        switch subject {
        case .query: writer.raw(",\"qry\":{\"sid\":")
        case .zone: writer.raw(",\"fet\":{\"sid\":")
        case .database, .merged: writer.raw(",\"met\":{\"sid\":")
        }
        writer.string(subscription.text)
        if has(.ofKind) {
            if let zone {
                writer.member("zid", zone.name.text)
                writer.member("zoid", zone.owner.text)
            }
            writer.member("dbs", scope.number)
            if case .query(let record, let reason, _) = subject {
                writer.member("rid", record.text)
                writer.member("fo", reason.rawValue)
            }
        }
        if has(.fields), case .query(_, _, let fields) = subject, !info.fields.isEmpty {
            writer.raw(",\"af\":")
            fields.append(info.fields, to: &writer)
        }
        writer.raw("}")
    }

    private func appendAps(
        _ badge: Int64?, _ has: (Part) -> Bool, to writer: inout JSONWriter
    ) {
        var object = MemberList()
        let alert = alert(has)
        if !alert.isEmpty { object.raw("alert", alert.bytes) }
        if let badge { object.raw("badge", Array("\(badge)".utf8)) }
        if has(.sound), let sound = info.sound { object.text("sound", sound) }
        if has(.sound), let category = info.category { object.text("category", category) }
        if info.isContentAvailable { object.raw("content-available", Array("1".utf8)) }
        if info.isMutable { object.raw("mutable-content", Array("1".utf8)) }
        writer.raw(object.bytes)
    }

    private func alert(_ has: (Part) -> Bool) -> MemberList {
        var alert = MemberList()
        append(info.title, "title", "title-loc-key", "title-loc-args", has, to: &alert)
        append(info.subtitle, "subtitle", "subtitle-loc-key", "subtitle-loc-args", has, to: &alert)
        append(info.body, "body", "loc-key", "loc-args", has, to: &alert)
        if has(.actionKey), let key = info.actionKey { alert.text("action-loc-key", key) }
        if has(.launchImage), let image = info.launchImage { alert.text("launch-image", image) }
        return alert
    }

    private func append(
        _ text: NotificationInfo.Text, _ plain: StaticString, _ key: StaticString,
        _ arguments: StaticString, _ has: (Part) -> Bool, to alert: inout MemberList
    ) {
        if has(.texts), let words = text.plain { alert.text(plain, words) }
        if has(.keys), let name = text.key { alert.text(key, name) }
        guard has(.arguments), !text.fields.isEmpty else { return }
        var fields = NoticeFields()
        if case .query(_, _, let known) = subject { fields = known }
        var list = JSONWriter(reserving: 64)
        list.raw("[")
        for (index, name) in text.fields.enumerated() {
            if index > 0 { list.raw(",") }
            list.string(fields.text(name))
        }
        list.raw("]")
        alert.raw(arguments, list.bytes)
    }
}

extension DatabaseScope {
    /// `dbs` of notices (rulings.md 41).
    var number: Int64 {
        switch self {
        case .public: 0
        case .private: 1
        case .shared: 2
        }
    }
}

/// The members of an object that is being written.
private struct MemberList {
    private var writer = JSONWriter(reserving: 128)
    private(set) var isEmpty = true

    mutating func text(_ key: StaticString, _ value: String) {
        begin(key)
        writer.string(value)
    }

    mutating func raw(_ key: StaticString, _ value: [UInt8]) {
        begin(key)
        writer.raw(value)
    }

    private mutating func begin(_ key: StaticString) {
        writer.raw(isEmpty ? "{\"" : ",\"")
        isEmpty = false
        writer.raw(key)
        writer.raw("\":")
    }

    var bytes: [UInt8] { isEmpty ? Array("{}".utf8) : writer.bytes + Array("}".utf8) }
}
