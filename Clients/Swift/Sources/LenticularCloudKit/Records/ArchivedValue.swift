import Foundation

/// A field's value within an archive.
final class ArchivedValue: NSObject, NSSecureCoding {
    let value: FieldValue

    init(_ value: FieldValue) { self.value = value }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        switch value {
        case .string(let text): coder.encode(text as NSString, forKey: "string")
        case .int64(let number): coder.encode(number, forKey: "int64")
        case .double(let number): coder.encode(number, forKey: "double")
        case .timestamp(let date): coder.encode(date as NSDate, forKey: "date")
        case .bytes(let data): coder.encode(data as NSData, forKey: "bytes")
        case .reference(let reference): coder.encode(reference, forKey: "reference")
        case .asset(let asset): coder.encode(asset, forKey: "asset")
        case .location(let location): coder.encode(location, forKey: "location")
        case .list(let members, let element):
            coder.encode(members.map(ArchivedValue.init) as NSArray, forKey: "list")
            coder.encode(element.map { $0.rawValue as NSString }, forKey: "element")
        }
    }

    required init?(coder: NSCoder) {
        guard let value = Self.scalar(coder) ?? Self.list(coder) else { return nil }
        self.value = value
    }

    private static func scalar(_ coder: NSCoder) -> FieldValue? {
        if let text = coder.object(NSString.self, "string") {
            return .string(String(text))
        }
        if coder.containsValue(forKey: "int64") {
            return .int64(coder.decodeInt64(forKey: "int64"))
        }
        if coder.containsValue(forKey: "double") {
            return .double(coder.decodeDouble(forKey: "double"))
        }
        if let date = coder.object(NSDate.self, "date") {
            return .timestamp(date as Date)
        }
        // Archives of former versions have milliseconds.
        if coder.containsValue(forKey: "timestamp") {
            return .timestamp(
                FieldValue.date(ofMilliseconds: coder.decodeInt64(forKey: "timestamp")))
        }
        if let data = coder.object(NSData.self, "bytes") {
            return .bytes(data as Data)
        }
        return object(coder)
    }

    private static func object(_ coder: NSCoder) -> FieldValue? {
        if let reference = coder.object(CKRecord.Reference.self, "reference") {
            return .reference(reference)
        }
        if let asset = coder.object(CKAsset.self, "asset") {
            return .asset(asset)
        }
        return coder.object(CLLocation.self, "location").map { .location($0) }
    }

    private static func list(_ coder: NSCoder) -> FieldValue? {
        guard coder.containsValue(forKey: "list") else { return nil }
        let stored = coder.decodeObject(of: [NSArray.self, ArchivedValue.self], forKey: "list")
        guard let members = stored as? [ArchivedValue] else { return nil }
        let element = coder.object(NSString.self, "element")
        return .list(
            members.map(\.value), element.flatMap { FieldValue.Element(rawValue: String($0)) })
    }
}

extension NSCoder {
    /// Writes fields by their keys, under names that begin with a word.
    func encode(_ values: [CKRecord.FieldKey: FieldValue], as word: String) {
        let keys = values.keys.sorted()
        encode(names: keys, as: "\(word)Keys")
        for (index, key) in keys.enumerated() {
            encode(values[key].map(ArchivedValue.init), forKey: "\(word)Value\(index)")
        }
    }

    /// Reads what the method above has written; empty for anything else.
    func fieldValues(_ word: String) -> [CKRecord.FieldKey: FieldValue] {
        var values: [CKRecord.FieldKey: FieldValue] = [:]
        for (index, key) in names("\(word)Keys").enumerated() {
            values[key] = object(ArchivedValue.self, "\(word)Value\(index)")?.value
        }
        return values
    }

    func encode(names: [String], as key: String) {
        encode(names.map { $0 as NSString } as NSArray, forKey: key)
    }

    func names(_ key: String) -> [String] {
        guard containsValue(forKey: key) else { return [] }
        let list = decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? [Any]
        return (list ?? []).compactMap { ($0 as? String) ?? ($0 as? NSString).map { String($0) } }
    }
}
