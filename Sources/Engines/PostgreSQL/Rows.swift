#if PostgreSQL
    import CPostgreSQL

    /// What the server answered to one query.
    ///
    /// Bytes are valid as long as the rows are kept.
    package final class Rows: Sendable {
        // Nobody changes it.
        private nonisolated(unsafe) let result: OpaquePointer
        package let count: Int

        /// - Parameter result: cleared with the rows.
        init(_ result: OpaquePointer) {
            self.result = result
            count = Int(PQntuples(result))
        }

        deinit { PQclear(result) }

        /// How many rows the query has changed.
        package var changeCount: Int {
            PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        }

        /// What the server did, by its first word, as `COMMIT`.
        var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

        package func isNull(_ row: Int, _ column: Int) -> Bool {
            PQgetisnull(result, Int32(row), Int32(column)) != 0
        }

        /// A whole number of any width, or a truth as 0 or 1; 0 for null.
        package func number(_ row: Int, _ column: Int) -> Int64 {
            let bytes = bytes(row, column)
            guard let first = bytes.first, bytes.count <= 8 else { return 0 }
            // A truth has one byte, and numbers have their sign in the first.
            var number = bytes.count > 1 ? Int64(Int8(bitPattern: first)) : Int64(first)
            for byte in bytes.dropFirst() { number = number << 8 | Int64(byte) }
            return number
        }

        package func optionalNumber(_ row: Int, _ column: Int) -> Int64? {
            isNull(row, column) ? nil : number(row, column)
        }

        /// A number of the type float8.
        package func real(_ row: Int, _ column: Int) -> Double {
            Double(bitPattern: UInt64(bitPattern: number(row, column)))
        }

        /// The bytes of a value; none for null.
        package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: PQgetvalue(result, Int32(row), Int32(column)),
                count: Int(PQgetlength(result, Int32(row), Int32(column))))
        }

        package func text(_ row: Int, _ column: Int) -> String {
            String(decoding: bytes(row, column), as: UTF8.self)
        }
    }
#endif
