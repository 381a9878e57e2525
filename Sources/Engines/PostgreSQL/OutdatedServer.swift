#if PostgreSQL
    /// A server of a version that is older than all that the engine is tried with.
    package struct OutdatedServer: Error, Equatable, CustomStringConvertible {
        /// The oldest that can be used, as `server_version_num` has it.
        package static let numberMin = 150_000

        package let number: Int

        package var description: String {
            "the server is PostgreSQL \(number / 10_000), and PostgreSQL \(Self.numberMin / 10_000) or later is needed"
        }

        /// Refuses a server that is too old.
        ///
        /// - Parameter number: as `server_version_num` has it; 0 of a connection that is gone, which the next statement tells.
        package static func refuse(_ number: Int) throws(OutdatedServer) {
            guard number == 0 || number >= numberMin else { throw OutdatedServer(number: number) }
        }
    }
#endif
