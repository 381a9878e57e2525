import Foundation

extension NSCoder {
    /// Reads an object that need not be there; asking for one that is not is an error elsewhere than on
    /// Apple platforms.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, _ key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }
}
