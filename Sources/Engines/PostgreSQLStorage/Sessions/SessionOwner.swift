#if PostgreSQL
    import PostgreSQL

    /// Which process a session is of, as the server shows it (`application_name`).
    enum SessionOwner {
        /// What comes before the process.
        static let prefix = "lenticular "

        /// A process as people read it.
        static func digits(of process: [UInt8]) -> String {
            process.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }

    extension ConnectionOptions {
        /// Has the server show of its sessions which process they are of, so that others can end them once it is dead.
        package func owned(by process: [UInt8]) -> ConnectionOptions {
            var options = self
            options.name = SessionOwner.prefix + SessionOwner.digits(of: process)
            return options
        }
    }
#endif
