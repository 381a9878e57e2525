import Foundation

/// The content of one field, by the types that the protocol knows.
///
/// Records keep this, not what the app has set: a fetched record makes objects only for the fields that somebody reads.
enum FieldValue: Equatable, Sendable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// As the app has set it; the protocol has milliseconds.
    case timestamp(Date)
    case bytes(Data)
    case reference(CKRecord.Reference)
    case asset(CKAsset)
    case location(CLLocation)
    /// Values of one type; an empty list may have none.
    case list([FieldValue], Element?)

    /// The types that fields and members of lists have, as the protocol writes them.
    enum Element: String, Sendable {
        case string = "STRING"
        case int64 = "INT64"
        case double = "DOUBLE"
        case timestamp = "TIMESTAMP"
        case bytes = "BYTES"
        case reference = "REFERENCE"
        case asset = "ASSETID"
        case location = "LOCATION"
    }

    /// The type of a value that is no list.
    var element: Element? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .reference: .reference
        case .asset: .asset
        case .location: .location
        case .list: nil
        }
    }

    /// The type as the protocol writes it; nil for an empty list of no known type.
    var typeName: String? {
        if case .list(let members, let element) = self {
            return (members.first?.element ?? element).map { $0.rawValue + "_LIST" }
        }
        return element?.rawValue
    }

    /// What an app reads.
    ///
    /// Numbers come as `NSNumber`, which casts to every number type, as with Apple's framework.
    var object: any CKRecordValueProtocol {
        switch self {
        case .string(let text): text
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .timestamp(let date): date
        case .bytes(let data): data
        case .reference(let reference): reference
        case .asset(let asset): asset
        case .location(let location): location
        case .list(let members, let element): Self.list(members, element)
        }
    }

    private static func list(
        _ members: [FieldValue], _ element: Element?
    ) -> any CKRecordValueProtocol {
        switch members.first?.element ?? element {
        case .string?, nil:
            members.compactMap { if case .string(let text) = $0 { text } else { nil } }
        case .int64?, .double?:
            members.compactMap { $0.object as? NSNumber }
        case .timestamp?: members.compactMap { $0.object as? Date }
        case .bytes?: members.compactMap { $0.object as? Data }
        case .reference?: members.compactMap { $0.object as? CKRecord.Reference }
        case .asset?: members.compactMap { $0.object as? CKAsset }
        case .location?: members.compactMap { $0.object as? CLLocation }
        }
    }

    /// - Returns: nil for a value that no field can hold: of another type, a list of lists or of several
    ///   types, a number that is not finite or does not fit 64 bits.
    init?(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        case let date as Date: self = .timestamp(date)
        case let data as Data: self = .bytes(data)
        case let reference as CKRecord.Reference: self = .reference(reference)
        case let asset as CKAsset: self = .asset(asset)
        case let location as CLLocation: self = .location(location)
        case let list as [Any]: self.init(list: list)
        default: self.init(number: object)
        }
    }

    /// A date as the protocol has it: milliseconds since 1970.
    static func milliseconds(of date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }

    static func date(ofMilliseconds milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    private init?(list: [Any]) {
        var members: [FieldValue] = []
        members.reserveCapacity(list.count)
        for object in list {
            guard let member = FieldValue(object), member.element != nil else { return nil }
            members.append(member)
        }
        // Whole numbers beside fractions are a list of fractions.
        if members.contains(where: { $0.element == .double }) {
            members = members.map {
                if case .int64(let whole) = $0 { .double(Double(whole)) } else { $0 }
            }
        }
        guard members.allSatisfy({ $0.element == members.first?.element }) else { return nil }
        self = .list(members, members.first?.element)
    }

    private init?(number object: Any) {
        // An object of Foundation's first: it would pass for a Swift number of another kind.
        if type(of: object) is NSNumber.Type {
            guard let number = object as? NSNumber else { return nil }
            self.init(number)
            return
        }
        switch object {
        case let number as Int: self = .int64(Int64(number))
        case let flag as Bool: self = .int64(flag ? 1 : 0)
        case let number as Double: self.init(fraction: number)
        case let number as Float: self.init(fraction: Double(number))
        case let number as any FixedWidthInteger:
            guard let whole = Int64(exactly: number) else { return nil }
            self = .int64(whole)
        default: return nil
        }
    }

    private init?(fraction: Double) {
        guard fraction.isFinite else { return nil }
        self = .double(fraction)
    }

    private init?(_ number: NSNumber) {
        switch String(cString: number.objCType) {
        case "d", "f": self.init(fraction: number.doubleValue)
        case "Q":
            guard let whole = Int64(exactly: number.uint64Value) else { return nil }
            self = .int64(whole)
        default: self = .int64(number.int64Value)
        }
    }
}
