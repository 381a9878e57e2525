import CloudKitWire
import Foundation

/// What a subscription's notifications show and carry.
///
/// Without alert, sound and badge a notification is silent. The app's side decides what it does with the texts:
/// localisation keys name entries of its tables.
public final class CKNotificationInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: as with records, one thread at a time changes it.

    /// The text to show.
    public var alertBody: String?
    /// The key of the text to show.
    public var alertLocalizationKey: String?
    /// Fields of the record whose values the text takes.
    public var alertLocalizationArgs: [CKRecord.FieldKey]?
    /// The title to show.
    public var title: String?
    /// The key of the title to show.
    public var titleLocalizationKey: String?
    /// Fields of the record whose values the title takes.
    public var titleLocalizationArgs: [CKRecord.FieldKey]?
    /// The second title to show.
    public var subtitle: String?
    /// The key of the second title to show.
    public var subtitleLocalizationKey: String?
    /// Fields of the record whose values the second title takes.
    public var subtitleLocalizationArgs: [CKRecord.FieldKey]?
    /// The key of the button's text.
    public var alertActionLocalizationKey: String?
    /// The picture to show while the app starts.
    public var alertLaunchImage: String?
    /// The sound to play.
    public var soundName: String?
    /// Fields of the record that the notification carries; at most 3.
    public var desiredKeys: [CKRecord.FieldKey]?
    /// Whether the number at the app's icon grows.
    public var shouldBadge = false
    /// Whether the app is woken to fetch.
    public var shouldSendContentAvailable = false
    /// Whether the app may change the notification before it is shown.
    public var shouldSendMutableContent = false
    /// The group of actions that the notification offers.
    public var category: String?
    /// The field whose value lets later notifications take the place of former ones.
    public var collapseIDKey: String?

    /// One that shows and carries nothing.
    public override init() {}

    /// Takes what to show and carry.
    public convenience init(
        alertBody: String? = nil, alertLocalizationKey: String? = nil,
        alertLocalizationArgs: [CKRecord.FieldKey] = [], title: String? = nil,
        titleLocalizationKey: String? = nil, titleLocalizationArgs: [CKRecord.FieldKey] = [],
        subtitle: String? = nil, subtitleLocalizationKey: String? = nil,
        subtitleLocalizationArgs: [CKRecord.FieldKey] = [],
        alertActionLocalizationKey: String? = nil, alertLaunchImage: String? = nil,
        soundName: String? = nil, desiredKeys: [CKRecord.FieldKey] = [], shouldBadge: Bool = false,
        shouldSendContentAvailable: Bool = false, shouldSendMutableContent: Bool = false,
        category: String? = nil, collapseIDKey: String? = nil
    ) {
        self.init()
        self.alertBody = alertBody
        self.alertLocalizationKey = alertLocalizationKey
        self.alertLocalizationArgs = alertLocalizationArgs
        self.title = title
        self.titleLocalizationKey = titleLocalizationKey
        self.titleLocalizationArgs = titleLocalizationArgs
        self.subtitle = subtitle
        self.subtitleLocalizationKey = subtitleLocalizationKey
        self.subtitleLocalizationArgs = subtitleLocalizationArgs
        self.alertActionLocalizationKey = alertActionLocalizationKey
        self.alertLaunchImage = alertLaunchImage
        self.soundName = soundName
        self.desiredKeys = desiredKeys
        self.shouldBadge = shouldBadge
        self.shouldSendContentAvailable = shouldSendContentAvailable
        self.shouldSendMutableContent = shouldSendMutableContent
        self.category = category
        self.collapseIDKey = collapseIDKey
    }

    private typealias Property<Value> = ReferenceWritableKeyPath<CKNotificationInfo, Value>
        & Sendable

    private static let texts: [(String, Property<String?>)] = [
        ("alertBody", \.alertBody), ("alertLocalizationKey", \.alertLocalizationKey),
        ("title", \.title), ("titleLocalizationKey", \.titleLocalizationKey),
        ("subtitle", \.subtitle), ("subtitleLocalizationKey", \.subtitleLocalizationKey),
        ("alertActionLocalizationKey", \.alertActionLocalizationKey),
        ("alertLaunchImage", \.alertLaunchImage), ("soundName", \.soundName),
        ("category", \.category), ("collapseIDKey", \.collapseIDKey),
    ]

    private static let lists: [(String, Property<[String]?>)] = [
        ("alertLocalizationArgs", \.alertLocalizationArgs),
        ("titleLocalizationArgs", \.titleLocalizationArgs),
        ("subtitleLocalizationArgs", \.subtitleLocalizationArgs),
        ("additionalFields", \.desiredKeys),
    ]

    private static let flags: [(String, Property<Bool>)] = [
        ("shouldBadge", \.shouldBadge),
        ("shouldSendContentAvailable", \.shouldSendContentAvailable),
        ("shouldSendMutableContent", \.shouldSendMutableContent),
    ]

    convenience init(_ view: JSONView) {
        self.init()
        for (key, path) in Self.texts { self[keyPath: path] = view[key]?.string }
        for (key, path) in Self.lists {
            self[keyPath: path] = (view[key]?.elements).flatMap {
                view[key]?.isArray == true ? $0.compactMap(\.string) : nil
            }
        }
        for (key, path) in Self.flags { self[keyPath: path] = view[key]?.bool ?? false }
    }

    func write(_ json: inout JSONText) {
        json.object { json in
            for (key, path) in Self.texts {
                if let text = self[keyPath: path] { json.member(key, text) }
            }
            for (key, path) in Self.lists {
                guard let list = self[keyPath: path], !list.isEmpty else { continue }
                json.key(key)
                json.array { json in for item in list { json.string(item) } }
            }
            for (key, path) in Self.flags where self[keyPath: path] {
                json.key(key)
                json.bool(true)
            }
        }
    }

    private var bytes: [UInt8] {
        var json = JSONText()
        write(&json)
        return json.bytes
    }

    /// One that shows and carries the same.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotificationInfo)?.bytes == bytes
    }

    public override var hash: Int { bytes.hashValue }

    /// A copy that can be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any {
        guard let view = try? JSONTape(bytes).root else { return CKNotificationInfo() }
        return CKNotificationInfo(view)
    }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(Data(bytes) as NSData, forKey: "NotificationInfo")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, "NotificationInfo") as Data?,
            let view = try? JSONTape([UInt8](data)).root
        else { return nil }
        self.init(view)
    }
}
