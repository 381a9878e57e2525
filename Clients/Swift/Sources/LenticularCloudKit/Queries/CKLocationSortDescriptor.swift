import Foundation

/// A sort of a query's results by their distance from a place, the nearest first.
public final class CKLocationSortDescriptor: NSSortDescriptor {
    /// The place.
    public let relativeLocation: CLLocation

    #if os(Linux)
        let fieldKey: String

        /// Takes the key of a field with places.
        public init(key: String, relativeLocation: CLLocation) {
            self.relativeLocation = relativeLocation
            fieldKey = key
            super.init(keyPath: \SortedThing.value, ascending: true)
        }
    #else
        /// Takes the key of a field with places.
        public init(key: String, relativeLocation: CLLocation) {
            self.relativeLocation = relativeLocation
            super.init(key: key, ascending: true, selector: nil)
        }
    #endif

    /// Nil: these do not come from archives.
    public required init?(coder: NSCoder) { nil }

    /// Itself: it does not change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }
}
