#if PostgreSQL
    /// A parameter of a query, sent in binary.
    ///
    /// Texts go as their bytes: the type `text` refuses U+0000, so the server's columns are `bytea`.
    package enum Value: Sendable {
        case number(Int64?)
        case bytes([UInt8]?)
        case numbers([Int64?])
        case byteStrings([[UInt8]?])
        case real(Double)
        case reals([Double])
        /// Null of whatever type the statement wants there.
        case null

        package static func text(_ text: String) -> Value { .bytes(Array(text.utf8)) }

        package static func texts(_ texts: [String]) -> Value {
            .byteStrings(texts.map { Array($0.utf8) })
        }

        private static let numberType: UInt32 = 20
        private static let bytesType: UInt32 = 17
        private static let realType: UInt32 = 701

        /// The number of its type in every server.
        var type: UInt32 {
            switch self {
            case .number: Self.numberType
            case .bytes: Self.bytesType
            case .numbers: 1016
            case .byteStrings: 1001
            case .real: Self.realType
            case .reals: 1022
            case .null: 0
            }
        }

        var isNull: Bool {
            switch self {
            case .number(let number): number == nil
            case .bytes(let bytes): bytes == nil
            case .numbers, .byteStrings, .real, .reals: false
            case .null: true
            }
        }

        func append(to buffer: inout [UInt8]) {
            switch self {
            case .number(let number): if let number { Self.append(number, to: &buffer) }
            case .bytes(let bytes): if let bytes { buffer += bytes }
            case .null: break
            case .real(let real): Self.append(real.bitPattern, to: &buffer)
            case .reals(let reals):
                Self.appendHead(reals.count, of: Self.realType, to: &buffer)
                for real in reals {
                    Self.append(Int32(8), to: &buffer)
                    Self.append(real.bitPattern, to: &buffer)
                }
            case .numbers(let numbers):
                buffer.reserveCapacity(buffer.count + 20 + 12 * numbers.count)
                Self.appendHead(numbers.count, of: Self.numberType, to: &buffer)
                for number in numbers {
                    Self.append(Int32(number == nil ? -1 : 8), to: &buffer)
                    if let number { Self.append(number, to: &buffer) }
                }
            case .byteStrings(let strings):
                let size = strings.reduce(20) { $0 + 4 + ($1?.count ?? 0) }
                buffer.reserveCapacity(buffer.count + size)
                Self.appendHead(strings.count, of: Self.bytesType, to: &buffer)
                for string in strings {
                    Self.append(string.map { Int32(clamping: $0.count) } ?? -1, to: &buffer)
                    if let string { buffer += string }
                }
            }
        }

        /// An array of one dimension, from 1 on; one without elements has none.
        private static func appendHead(_ count: Int, of type: UInt32, to buffer: inout [UInt8]) {
            append(Int32(count == 0 ? 0 : 1), to: &buffer)
            append(Int32(1), to: &buffer)
            append(type, to: &buffer)
            guard count > 0 else { return }
            append(Int32(clamping: count), to: &buffer)
            append(Int32(1), to: &buffer)
        }

        private static func append(_ number: some FixedWidthInteger, to buffer: inout [UInt8]) {
            withUnsafeBytes(of: number.bigEndian) { buffer += $0 }
        }
    }

    /// A statement with its parameters.
    package struct Query: Sendable {
        /// The server prepares each text once for a connection.
        let text: String
        let values: [Value]

        package init(_ text: String, _ values: Value...) { self.init(text, values) }

        package init(_ text: String, _ values: [Value]) {
            self.text = text
            self.values = values
        }

        /// Fails with `condition` unless the statement changes so many rows, before anything behind it is done.
        ///
        /// So a commit may be sent together with what must hold before it.
        ///
        /// - Parameter text: changes rows; its last parameter is free.
        package static func requiring(
            _ count: Int, _ text: String, _ values: Value...
        ) -> Query { requiring(count, text, values) }

        /// As above.
        package static func requiring(_ count: Int, _ text: String, _ values: [Value]) -> Query {
            Query(
                """
                WITH changed AS (\(text) RETURNING 1)
                SELECT 1 / (count(*) = $\(values.count + 1))::int FROM changed
                """, values + [.number(Int64(count))])
        }
    }
#endif
