#if PostgreSQL
    import CPostgreSQL

    // Rows that go to the server in great numbers, in the binary form of COPY.
    extension Connection {
        /// Begins to send rows; until `endCopy` nothing else can be sent.
        ///
        /// A session whose copy was begun and not ended is of no more use.
        ///
        /// - Parameter statement: `COPY … FROM STDIN (FORMAT binary)`.
        package func beginCopy(_ statement: String) throws {
            try leavePipeline()
            guard PQsetnonblocking(handle, 0) == 0 else { throw PostgreSQLError(lost: handle) }
            let result = PQexec(handle, statement)
            defer { PQclear(result) }
            guard let result, PQresultStatus(result) == PGRES_COPY_IN else {
                throw result.map { PostgreSQLError(of: $0) } ?? PostgreSQLError(lost: handle)
            }
            try putCopy(Self.copyHead)
        }

        /// Sends bytes of rows: of each the number of its values, and each value behind its length.
        package func putCopy(_ bytes: [UInt8]) throws {
            let end = bytes.withUnsafeBytes {
                PQputCopyData(
                    handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            guard end == 1 else { throw PostgreSQLError(lost: handle) }
        }

        /// Ends the rows; the server has taken all of them, or none.
        package func endCopy() throws {
            try putCopy([0xff, 0xff])
            guard PQputCopyEnd(handle, nil) == 1 else { throw PostgreSQLError(lost: handle) }
            var failure: PostgreSQLError?
            while let result = PQgetResult(handle) {
                if PQresultStatus(result) != PGRES_COMMAND_OK {
                    failure = failure ?? PostgreSQLError(of: result)
                }
                PQclear(result)
            }
            guard !isLost, PQsetnonblocking(handle, 1) == 0 else {
                throw failure ?? PostgreSQLError(lost: handle)
            }
            try enterPipeline()
            if let failure { throw failure }
        }

        /// A signature, no flags, and nothing more.
        private static let copyHead =
            Array("PGCOPY\n".utf8) + [0xff, 13, 10, 0] + [UInt8](repeating: 0, count: 8)
    }
#endif
