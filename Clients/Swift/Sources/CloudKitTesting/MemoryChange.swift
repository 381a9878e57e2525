import CloudKitWire

/// One change of a server in memory, as subscriptions look at it.
struct MemoryChange {
    /// `public` or `private`.
    let scope: String
    /// Who has made it; a private database is theirs.
    let person: String
    /// The device that has made it, which is not told.
    let device: String
    /// Names the change; the same in all that is told of it.
    let position: Int64
    let zone: String
    /// The record that was changed; nil for a zone that was made or deleted.
    var recordName: String?
    var recordType: String?
    /// The record before.
    var previous: MemoryDatabase.Stored?
    /// The record now; nil for one that was deleted.
    var now: MemoryDatabase.Stored?

    /// What happened to the record, as `firesOn` has it; nil for a change of a zone.
    var word: String? {
        guard recordName != nil else { return nil }
        if now == nil { return "delete" }
        return previous == nil ? "create" : "update"
    }

    private var reason: Int64 {
        switch word {
        case "create": 1
        case "delete": 3
        default: 2
        }
    }

    /// The push that tells a subscription's owner.
    ///
    /// - Parameter badge: the number at the app's icon; nil when it does not change.
    func push(
        for subscription: MemorySubscription, in container: String, badge: Int64?
    ) -> [UInt8] {
        MemoryRequest.object { json in
            json.key("aps")
            json.object { writeAps(subscription.info, badge, to: &$0) }
            json.key("ck")
            json.object { json in
                json.key("ce")
                json.int64(2)
                json.member("cid", container)
                json.member("ckuserid", "_\(subscription.name.person)")
                json.member("nid", "memory-\(position)")
                let key =
                    switch subscription.kind {
                    case .query: "qry"
                    case .zone: "fet"
                    case .database: "met"
                    }
                json.key(key)
                json.object { writeSubject(subscription, to: &$0) }
            }
        }
    }

    private func writeSubject(_ subscription: MemorySubscription, to json: inout JSONText) {
        json.member("sid", subscription.name.id)
        json.member("zid", zone)
        json.member("zoid", scope == "public" ? "_defaultOwner" : "_\(person)")
        json.key("dbs")
        json.int64(scope == "public" ? 0 : 1)
        guard subscription.kind == .query, let recordName else { return }
        json.member("rid", recordName)
        json.key("fo")
        json.int64(reason)
        let shown = subscription.info?["additionalFields"]?.elements.compactMap(\.string) ?? []
        guard !shown.isEmpty else { return }
        json.key("af")
        json.object { json in
            for key in shown {
                guard let value = value(of: key) else { continue }
                json.key(key)
                json.raw(value.text)
            }
        }
    }

    private func writeAps(_ info: JSONView?, _ badge: Int64?, to json: inout JSONText) {
        guard let info else { return }
        let alert = MemoryRequest.object { writeAlert(info, to: &$0) }
        if alert.count > 2 {
            json.key("alert")
            json.raw(alert)
        }
        if let badge {
            json.key("badge")
            json.int64(badge)
        }
        for (key, name) in [("soundName", "sound"), ("category", "category")] {
            if let text = info[key]?.string { json.member(name, text) }
        }
        for (key, name) in [
            ("shouldSendContentAvailable", "content-available"),
            ("shouldSendMutableContent", "mutable-content"),
        ] where info[key]?.bool == true {
            json.key(name)
            json.int64(1)
        }
    }

    /// Names of a subscription's texts, and what pushes call them.
    private static let texts = [
        ("alertBody", "body"), ("alertLocalizationKey", "loc-key"), ("title", "title"),
        ("titleLocalizationKey", "title-loc-key"), ("subtitle", "subtitle"),
        ("subtitleLocalizationKey", "subtitle-loc-key"),
        ("alertActionLocalizationKey", "action-loc-key"), ("alertLaunchImage", "launch-image"),
    ]

    private func writeAlert(_ info: JSONView, to json: inout JSONText) {
        for (key, name) in Self.texts {
            if let text = info[key]?.string { json.member(name, text) }
        }
        for (key, name) in [
            ("alertLocalizationArgs", "loc-args"), ("titleLocalizationArgs", "title-loc-args"),
            ("subtitleLocalizationArgs", "subtitle-loc-args"),
        ] {
            guard let fields = info[key], fields.isArray else { continue }
            json.key(name)
            json.array { json in
                for field in fields.elements.compactMap(\.string) {
                    let value = value(of: field)
                    json.string(
                        value?.string ?? value.map { String(decoding: $0.text, as: UTF8.self) }
                            ?? "")
                }
            }
        }
    }

    /// A value that may be shown: nothing encrypted, no bytes, files and lists.
    private func value(of key: String) -> JSONView? {
        guard let bytes = (now ?? previous)?.fields[key], let field = try? JSONTape(bytes).root,
            field["isEncrypted"]?.bool != true, let value = field["value"], !value.isArray
        else { return nil }
        let type = field["type"]?.string ?? ""
        if ["ASSETID", "BYTES"].contains(type) || type.hasPrefix("ENCRYPTED") { return nil }
        return value["recordName"] ?? value
    }
}
