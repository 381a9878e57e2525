#if PostgreSQL
    import Storage

    /// A member of a contract that this engine does not have yet.
    ///
    /// So no server can be given this engine. Nothing answers falsely in its place.
    package struct NotBuilt: Error, Equatable, CustomStringConvertible {
        package let member: String

        init(_ member: StaticString = #function) { self.member = "\(member)" }

        package var description: String { "the engine on PostgreSQL has no \(member) yet" }
    }

    extension NotBuilt: EngineFault {
        package var finding: EngineFinding { .other }
    }
#endif
