import Foundation

/// A value that a field of a record can hold.
///
/// Text, dates, bytes, numbers, references, assets, places, and lists of one of these. Booleans are kept
/// as the numbers 0 and 1. The set is closed: a record refuses values of types of your own.
public protocol CKRecordValueProtocol {}

/// What reading a field by its key gives.
public typealias CKRecordValue = CKRecordValueProtocol

// swift-format-ignore: NoLeadingUnderscores
/// A value that is an object of Foundation's or of this library's, as the native framework's Swift interface
/// spells it.
///
/// What an app adds to it reaches no Swift value: `"Tea" as NSString` is one, `"Tea"` is not.
public protocol __CKRecordObjCValue: NSObjectProtocol, CKRecordValueProtocol {}

extension String: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension Float: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension Int8: CKRecordValueProtocol {}
extension Int16: CKRecordValueProtocol {}
extension Int32: CKRecordValueProtocol {}
extension Int64: CKRecordValueProtocol {}
extension UInt: CKRecordValueProtocol {}
extension UInt8: CKRecordValueProtocol {}
extension UInt16: CKRecordValueProtocol {}
extension UInt32: CKRecordValueProtocol {}
extension UInt64: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}
extension NSString: __CKRecordObjCValue {}
extension NSNumber: __CKRecordObjCValue {}
extension NSDate: __CKRecordObjCValue {}
extension NSData: __CKRecordObjCValue {}
extension NSArray: __CKRecordObjCValue {}
extension CLLocation: __CKRecordObjCValue {}
extension CKRecord.Reference: __CKRecordObjCValue {}
extension CKAsset: __CKRecordObjCValue {}

/// Fields by their keys: a record, or the encrypted part of one.
public protocol CKRecordKeyValueSetting: AnyObject {
    /// The value under a key; nil when the record has none.
    subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? { get set }
    /// The value under a key, if it is of the type that is asked for.
    subscript<Value: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> Value? { get set }
    /// The value under a key; nil when there is none.
    func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)?
    /// Sets or clears a value.
    func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey)
    /// The keys that have values, in no particular order.
    func allKeys() -> [CKRecord.FieldKey]
    /// The keys that were set since the record was fetched or saved, cleared ones too.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    /// The value under a key; nil when there is none.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// The value under a key, if it is of the type that is asked for.
    public subscript<Value: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> Value? {
        get { object(forKey: key) as? Value }
        set { setObject(newValue, forKey: key) }
    }
}
