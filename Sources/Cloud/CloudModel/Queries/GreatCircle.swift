import Platform

extension RecordQuery.Coordinate {
    /// The mean radius of the Earth, in metres (IUGG).
    package static let earthRadius = 6_371_008.8

    /// Metres to another place along the great circle, on a sphere of the mean radius.
    package func distance(to other: RecordQuery.Coordinate) -> Double {
        let radians = Double.pi / 180
        let latitudes = (latitude * radians, other.latitude * radians)
        // The shorter way round, so that the two names of the date line are one place.
        let east = abs(other.longitude - longitude)
        let halves = (
            sin((latitudes.1 - latitudes.0) / 2), sin(min(east, 360 - east) * radians / 2)
        )
        let square = halves.0 * halves.0 + width * other.width * halves.1 * halves.1
        return 2 * Self.earthRadius * asin(min(1, square.squareRoot()))
    }

    /// How wide a degree of longitude is, as a part of one at the equator.
    private var width: Double {
        // A pole is one place, whatever its longitude; the cosine of a rounded right angle is not 0.
        abs(latitude) == 90 ? 0 : cos(latitude * .pi / 180)
    }

    /// The rectangles of latitude and longitude that hold every place within so many metres.
    ///
    /// One as a rule; two where the circle crosses the date line, one over all longitudes where it
    /// holds a pole.
    package func boundingBoxes(metres: Double) -> [Rectangle] {
        // A little more than the circle: a place too many is looked at, none is missed.
        let angle = max(0, metres) / Self.earthRadius * (1 + 1e-9) + 1e-9
        let degrees = angle * 180 / .pi
        let (south, north) = (latitude - degrees, latitude + degrees)
        guard south > -90, north < 90 else {
            return [
                Rectangle(
                    south: max(-90, south), north: min(90, north), west: -180, east: 180)
            ]
        }
        // The widest meridians that touch the circle are nearer to the pole than its centre.
        let width = asin(min(1, sin(angle) / cos(latitude * .pi / 180))) * 180 / .pi + 1e-9
        let (west, east) = (longitude - width, longitude + width)
        var found = [
            Rectangle(south: south, north: north, west: max(-180, west), east: min(180, east))
        ]
        if west <= -180 {
            found.append(Rectangle(south: south, north: north, west: west + 360, east: 180))
        }
        if east >= 180 {
            found.append(Rectangle(south: south, north: north, west: -180, east: east - 360))
        }
        return found
    }

    /// A range of latitudes and longitudes, in degrees.
    package struct Rectangle: Sendable, Equatable {
        package let south: Double
        package let north: Double
        package let west: Double
        package let east: Double

        package init(south: Double, north: Double, west: Double, east: Double) {
            self.south = south
            self.north = north
            self.west = west
            self.east = east
        }
    }
}
