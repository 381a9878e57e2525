import JSON

/// What a subscription's `notificationInfo` asks of a notice (web-services.md §5.15), as it is stored.
struct NotificationInfo: Sendable, Equatable {
    /// A text, together with the key and the fields by which an app shows it in its user's language.
    struct Text: Sendable, Equatable {
        var plain: String?
        var key: String?
        /// Names of fields whose values go into the localised text.
        var fields: [String] = []
    }

    var body = Text()
    var title = Text()
    var subtitle = Text()
    var actionKey: String?
    var launchImage: String?
    var sound: String?
    var category: String?
    var collapseID: String?
    /// Fields whose values the notice brings along.
    var fields: [String] = []
    var countsBadge = false
    var isContentAvailable = false
    var isMutable = false

    init() {}

    /// - Parameter bytes: as stored; nil for none.
    init(_ bytes: [UInt8]?) throws {
        guard let bytes else { return }
        let root = try JSONDocument(parsing: bytes).root
        func texts(_ key: StaticString) -> [String] {
            root[key]?.elements.compactMap(\.string) ?? []
        }
        body = Text(
            plain: root["alertBody"]?.string, key: root["alertLocalizationKey"]?.string,
            fields: texts("alertLocalizationArgs"))
        title = Text(
            plain: root["title"]?.string, key: root["titleLocalizationKey"]?.string,
            fields: texts("titleLocalizationArgs"))
        subtitle = Text(
            plain: root["subtitle"]?.string, key: root["subtitleLocalizationKey"]?.string,
            fields: texts("subtitleLocalizationArgs"))
        actionKey = root["alertActionLocalizationKey"]?.string
        launchImage = root["alertLaunchImage"]?.string
        sound = root["soundName"]?.string
        category = root["category"]?.string
        collapseID = root["collapseIDKey"]?.string
        fields = texts("additionalFields")
        countsBadge = root["shouldBadge"]?.bool ?? false
        isContentAvailable = root["shouldSendContentAvailable"]?.bool ?? false
        isMutable = root["shouldSendMutableContent"]?.bool ?? false
    }

    /// Whether it asks for values of the record.
    var readsFields: Bool {
        !fields.isEmpty || [body, title, subtitle].contains { !$0.fields.isEmpty }
    }
}
