#if PostgreSQL
    import CPostgreSQL

    /// Why the server did not do what it was asked, by its SQLSTATE, or why it cannot be asked.
    package struct PostgreSQLError: Error, Sendable, Equatable, CustomStringConvertible {
        /// What a caller can do about it.
        package enum Kind: Sendable, Equatable {
            /// Another transaction came in between: the same may succeed at once.
            case serialization
            /// Two transactions waited for each other, and this one had to give way: as above.
            case deadlock
            /// A lock was not had in time: as above.
            case lockTimeout
            /// A row of that key is there already.
            case unique
            /// A condition that the statement itself states does not hold (`Query.requiring`).
            case condition
            /// The statement was stopped, or took too long.
            case cancelled
            /// The server has no room on its disk.
            case full
            /// The server takes no more connections, starts, or is about to stop.
            case unavailable
            /// The server, or the transaction, takes no writes: a standby, for one.
            case readOnly
            /// The role may not do that.
            case refused
            /// The connection is gone; nobody knows what became of the last that was sent.
            case lost
            /// A mistake of ours, or a fault of the server.
            case other
        }

        package let kind: Kind
        /// Five characters; empty where the server said nothing.
        package let state: String
        package let message: String
        /// Whether the server has ended the session with it.
        package let endsSession: Bool

        package init(kind: Kind, state: String, message: String, endsSession: Bool) {
            self.kind = kind
            self.state = state
            self.message = message
            self.endsSession = endsSession
        }

        /// The connection is gone, or never was.
        init(lost connection: OpaquePointer?) {
            self.init(
                kind: .lost, state: "",
                message: Self.firstLine(PQerrorMessage(connection)) ?? "no connection",
                endsSession: true)
        }

        private static func firstLine(_ words: UnsafePointer<CChar>?) -> String? {
            words.flatMap {
                String(cString: $0).split(whereSeparator: \.isNewline).first.map(String.init)
            }
        }

        /// What a result says.
        init(of result: OpaquePointer) {
            func field(_ code: Character) -> String {
                guard let code = code.asciiValue,
                    let text = PQresultErrorField(result, Int32(code))
                else { return "" }
                return String(cString: text)
            }
            // 'C' is the SQLSTATE, 'V' the severity in English, 'M' the message.
            let state = field("C")
            let ends = ["FATAL", "PANIC"].contains(field("V"))
            // What libpq itself says, as of a connection that is gone, is in no field.
            let message = state.isEmpty ? Self.firstLine(PQresultErrorMessage(result)) : field("M")
            self.init(
                kind: Self.kind(of: state), state: state, message: message ?? "no answer",
                endsSession: ends || state.isEmpty)
        }

        static func kind(of state: String) -> Kind {
            switch state {
            case "40001": .serialization
            case "40P01": .deadlock
            case "55P03": .lockTimeout
            case "23505": .unique
            case "22012": .condition
            case "57014", "25P03", "25P04": .cancelled
            case "53100": .full
            case "53000", "53200", "53300", "57P01", "57P02", "57P03", "57P05": .unavailable
            case "25006": .readOnly
            case "42501": .refused
            case "": .lost
            default: state.hasPrefix("08") ? .lost : .other
            }
        }

        package var description: String { state.isEmpty ? message : "\(message) (\(state))" }
    }
#endif
