#if PostgreSQL
    import CloudModel

    /// The globe in cells, each of which has four of the next level; their numbers lie along a curve.
    ///
    /// So the places of a region lie in a few ranges of an index of cells. It is an ordinary index, which has the store as
    /// its first column and needs no extension of the server.
    enum GlobeCells {
        typealias Rectangle = RecordQuery.Coordinate.Rectangle

        private static let levels = 31
        /// A region is covered by about as many ranges at most; a finer cover would be longer than what it saves.
        private static let rangesMax = 128
        /// In degrees: what rounding may move a place across the edge of a cell, and much more.
        private static let slack = 1e-9

        /// The smallest cell that has a place.
        static func cell(of location: RecordQuery.Coordinate) -> Int64 {
            let column = index((location.longitude + 180) / 360)
            let row = index((location.latitude + 90) / 180)
            return Int64(bitPattern: spread(column) | spread(row) << 1)
        }

        private static func index(_ share: Double) -> UInt64 {
            let count = Double(1 << levels)
            return UInt64(min(max(0, (share * count).rounded(.down)), count - 1))
        }

        /// A number whose bits are those of another with a zero before each.
        private static func spread(_ number: UInt64) -> UInt64 {
            var bits = number & 0xFFFF_FFFF
            bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
            bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
            bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
            bits = (bits | bits << 2) & 0x3333_3333_3333_3333
            return (bits | bits << 1) & 0x5555_5555_5555_5555
        }

        /// One cell of some level.
        private struct Cell {
            var column: UInt64 = 0
            var row: UInt64 = 0

            func parts() -> [Cell] {
                [(0, 0), (1, 0), (0, 1), (1, 1)].map {
                    Cell(column: column << 1 | $0.0, row: row << 1 | $0.1)
                }
            }

            func rectangle(_ level: Int) -> Rectangle {
                let (width, height) = (360 / Double(1 << level), 180 / Double(1 << level))
                let (west, south) = (Double(column) * width - 180, Double(row) * height - 90)
                return Rectangle(
                    south: south - slack, north: south + height + slack, west: west - slack,
                    east: west + width + slack)
            }

            func range(_ level: Int) -> ClosedRange<Int64> {
                let shift = UInt64(2 * (levels - level))
                let first = (spread(column) | spread(row) << 1) << shift
                return Int64(bitPattern: first)...Int64(bitPattern: first + (1 << shift - 1))
            }
        }

        /// Ranges of cells that have all places of a region, and some beyond it.
        ///
        /// - Parameter mayMeet: whether a rectangle may have places of the region.
        static func cover(_ mayMeet: (Rectangle) -> Bool) -> [ClosedRange<Int64>] {
            var (cells, level) = ([Cell()], 0)
            while level < levels {
                let finer = cells.flatMap { $0.parts() }.filter {
                    mayMeet($0.rectangle(level + 1))
                }
                guard finer.count <= rangesMax else { break }
                (cells, level) = (finer, level + 1)
                if cells.isEmpty { break }
            }
            var ranges: [ClosedRange<Int64>] = []
            for range in cells.map({ $0.range(level) }).sorted(by: { $0.lowerBound < $1.lowerBound }
            ) {
                if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
                    ranges[ranges.count - 1] = last.lowerBound...range.upperBound
                } else {
                    ranges.append(range)
                }
            }
            return ranges
        }
    }

    extension RecordQuery.Coordinate.Rectangle {
        func meets(_ other: RecordQuery.Coordinate.Rectangle) -> Bool {
            south <= other.north && other.south <= north && west <= other.east
                && other.west <= east
        }
    }
#endif
