import CloudModel

/// How far the telling of an alert has come.
///
/// It is noted that somebody is to be told before anybody is, and that they were told once they were: so each is told at
/// least once, whichever process ends in between.
package struct AlertTelling: Sendable, Equatable {
    /// For how long it is tried; what is due by then says nothing new.
    package static let millisecondsMax: Milliseconds = 86_400_000

    /// When its condition was met of which somebody is still to be told; 0 for none.
    package var dueAt: Milliseconds = 0
    /// By what that was told.
    package var reached: AlertWays = []
    /// When it was last told of; 0 for never.
    package var toldAt: Milliseconds = 0

    package init() {}

    /// Whether somebody is still to be told.
    package func isDue(at now: Milliseconds) -> Bool {
        dueAt != 0 && now - dueAt < Self.millisecondsMax
    }
}

/// What an alert is told by.
package struct AlertWays: OptionSet, Sendable {
    package static let mail = AlertWays(rawValue: 1)
    package static let url = AlertWays(rawValue: 2)

    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}
