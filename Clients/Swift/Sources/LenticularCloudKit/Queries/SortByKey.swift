#if os(Linux)
    import Foundation

    /// A sort by a field's key, where the system knows only key paths of types.
    final class SortByKey: NSSortDescriptor {
        let fieldKey: String

        init(_ key: String, isAscending: Bool) {
            fieldKey = key
            super.init(keyPath: \SortedThing.value, ascending: isAscending)
        }

        required init?(coder: NSCoder) { nil }

        override func copy(with zone: NSZone? = nil) -> Any { self }
    }

    /// Something with a key path, since a descriptor cannot be made without one.
    final class SortedThing: NSObject {
        let value: Int = 0
    }

    /// Gives sort descriptors back the initialiser that takes a key.
    public protocol SortingByKey {}

    extension NSSortDescriptor: SortingByKey {}

    extension SortingByKey where Self: NSSortDescriptor {
        /// A sort of a query's results by a field.
        public init(key: String?, ascending: Bool) {
            guard let made = SortByKey(key ?? "", isAscending: ascending) as? Self else {
                preconditionFailure("a key makes an NSSortDescriptor, not a \(Self.self)")
            }
            self = made
        }

        /// The field; nil for a descriptor that was made from a key path.
        public var key: String? {
            (self as? SortByKey)?.fieldKey ?? (self as? CKLocationSortDescriptor)?.fieldKey
        }
    }
#endif
