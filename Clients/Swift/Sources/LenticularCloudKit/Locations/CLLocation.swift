#if !os(Linux)
    @_exported import CoreLocation
#else
    import Foundation

    /// A distance in metres.
    public typealias CLLocationDistance = Double
    /// A latitude or longitude in degrees.
    public typealias CLLocationDegrees = Double
    /// A precision in metres; negative when it is not known.
    public typealias CLLocationAccuracy = Double
    /// Metres a second; negative when it is not known.
    public typealias CLLocationSpeed = Double
    /// Degrees from north; negative when it is not known.
    public typealias CLLocationDirection = Double

    /// A place on the globe, by its angles.
    public struct CLLocationCoordinate2D: Sendable {
        /// Degrees north of the equator.
        public var latitude: CLLocationDegrees
        /// Degrees east of Greenwich.
        public var longitude: CLLocationDegrees

        /// The place where equator and first meridian meet.
        public init() { self.init(latitude: 0, longitude: 0) }

        /// Takes both angles.
        public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A place, by its angles.
    public func CLLocationCoordinate2DMake(
        _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
    ) -> CLLocationCoordinate2D {
        CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Whether there is such a place on the globe.
    public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
        abs(coordinate.latitude) <= 90 && abs(coordinate.longitude) <= 180
    }

    /// A place with its height, its precision and when it was measured; it does not change.
    public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable {
        /// Where it is.
        public let coordinate: CLLocationCoordinate2D
        /// Metres above the sea.
        public let altitude: CLLocationDistance
        /// How exact the place is, in metres.
        public let horizontalAccuracy: CLLocationAccuracy
        /// How exact the height is, in metres; negative when it is not known.
        public let verticalAccuracy: CLLocationAccuracy
        /// Where it was going; negative when it is not known.
        public let course: CLLocationDirection
        /// How fast it was going; negative when it is not known.
        public let speed: CLLocationSpeed
        /// When it was measured.
        public let timestamp: Date

        /// A place as of now.
        public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
            self.init(
                coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
                altitude: 0, horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
        }

        /// A place that was not moving.
        public convenience init(
            coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
            horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
            timestamp: Date
        ) {
            self.init(
                coordinate: coordinate, altitude: altitude,
                horizontalAccuracy: horizontalAccuracy, verticalAccuracy: verticalAccuracy,
                course: -1, speed: -1, timestamp: timestamp)
        }

        /// A place with all that is known of it.
        public init(
            coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
            horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
            course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
        ) {
            self.coordinate = coordinate
            self.altitude = altitude
            self.horizontalAccuracy = horizontalAccuracy
            self.verticalAccuracy = verticalAccuracy
            self.course = course
            self.speed = speed
            self.timestamp = timestamp
        }

        /// The way to another place along a great circle, in metres.
        public func distance(from location: CLLocation) -> CLLocationDistance {
            let (first, second) = (coordinate, location.coordinate)
            let radians = Double.pi / 180
            let north = (second.latitude - first.latitude) * radians / 2
            let east = (second.longitude - first.longitude) * radians / 2
            let chord =
                sin(north) * sin(north)
                + cos(first.latitude * radians) * cos(second.latitude * radians)
                * sin(east) * sin(east)
            return 2 * Self.earthMetres * asin(min(1, chord.squareRoot()))
        }

        /// The mean radius of the globe.
        private static let earthMetres = 6_371_008.8

        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? CLLocation else { return false }
            return numbers == other.numbers && timestamp == other.timestamp
        }

        public override var hash: Int { numbers.hashValue }

        private var numbers: [Double] {
            [
                coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy,
                verticalAccuracy, course, speed,
            ]
        }

        /// Itself: it does not change.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// True: archives name their classes.
        public static var supportsSecureCoding: Bool { true }

        /// Writes it into an archive.
        public func encode(with coder: NSCoder) {
            for (index, number) in numbers.enumerated() {
                coder.encode(number, forKey: "number\(index)")
            }
            coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: "timestamp")
        }

        /// Reads it from an archive; nil for anything else.
        public convenience init?(coder: NSCoder) {
            let numbers = (0..<7).map { coder.decodeDouble(forKey: "number\($0)") }
            self.init(
                coordinate: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]),
                altitude: numbers[2], horizontalAccuracy: numbers[3], verticalAccuracy: numbers[4],
                course: numbers[5], speed: numbers[6],
                timestamp: Date(
                    timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "timestamp")))
        }
    }
#endif
