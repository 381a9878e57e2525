import CloudModel
import JSON
import RecordDecoding

/// Reads how a notification should look (web-services.md §5.15).
///
/// It leaves out keys that the protocol does not know, and writes the others in one order. So the same
/// information always makes the same bytes.
enum NotificationInfoDecoder {
    private static let texts: [StaticString] = [
        "alertBody", "alertLocalizationKey", "alertActionLocalizationKey", "alertLaunchImage",
        "title", "titleLocalizationKey", "subtitle", "subtitleLocalizationKey", "soundName",
        "category", "collapseIDKey",
    ]
    private static let lists: [StaticString] = [
        "alertLocalizationArgs", "titleLocalizationArgs", "subtitleLocalizationArgs",
        "additionalFields",
    ]
    private static let flags: [StaticString] = [
        "shouldBadge", "shouldSendContentAvailable", "shouldSendMutableContent",
    ]

    /// - Returns: the object as JSON.
    /// - Throws: `Fault` BAD_REQUEST that names a key of another JSON type.
    static func decode(_ info: RequestObject) throws(Fault) -> [UInt8] {
        var writer = JSONWriter(reserving: 200)
        writer.raw("{")
        for key in texts {
            guard let text = try info.string(key) else { continue }
            name(key, &writer)
            writer.string(text)
        }
        for key in lists {
            guard let list = try info.strings(key) else { continue }
            name(key, &writer)
            writer.raw("[")
            for (index, text) in list.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(text)
            }
            writer.raw("]")
        }
        for key in flags {
            guard let flag = try info.bool(key) else { continue }
            name(key, &writer)
            writer.raw(flag ? "true" : "false")
        }
        writer.raw("}")
        return writer.bytes
    }

    private static func name(_ key: StaticString, _ writer: inout JSONWriter) {
        writer.raw(writer.bytes.count > 1 ? ",\"" : "\"")
        writer.raw(key)
        writer.raw("\":")
    }
}

extension NotificationInfoDecoder {
    static let shape = ObjectShape(
        "NotificationInfo",
        texts.map { .optional("\($0)", .text) }
            + lists.map { .optional("\($0)", .list(.text)) }
            + flags.map { .optional("\($0)", .flag) })
}
