/// Why a command did not do what it was asked: one line for standard error, exit status 1.
package struct CommandFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A command line that asks for nothing the program knows: one line, exit status 2.
package struct UsageFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
