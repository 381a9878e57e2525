import CloudModel

/// When somebody is to be told of what was counted, and how.
package struct AlertRule: Sendable, Equatable {
    /// The part of everything that it looks at; empty for any.
    package struct Filter: Sendable, Equatable {
        /// Folded.
        package var container = ""
        package var environment = ""
        package var database = ""
        package var operation = ""
        package var client = ""
        /// Of errors.
        package var code = ""

        package init() {}

        func takes(_ name: SeriesName) -> Bool {
            (database.isEmpty || database == name.database)
                && (operation.isEmpty || operation == name.operation)
                && (client.isEmpty || client == name.client)
        }
    }

    /// Short enough for minutes to be kept of the time before, too.
    package static let minutesMax = 1_440
    package static let countMax = 100
    package static let nameBytesMax = 64

    package var name: String
    package var metric: AlertMetric
    package var filter = Filter()
    package var isAbove = true
    package var threshold: Double
    /// Whether the threshold is in percent of what the time before had, on top of that or below.
    package var isRelative = false
    /// How long it looks back; it tells no more often than that.
    package var minutes: Int
    /// Empty for none.
    package var mail = ""
    package var url = ""
    package var madeAt: Milliseconds = 0
    package var telling = AlertTelling()

    package init(name: String, metric: AlertMetric, threshold: Double, minutes: Int) {
        self.name = name
        self.metric = metric
        self.threshold = threshold
        self.minutes = minutes
    }

    /// Whether it may tell again: never more than once in its own time.
    package func mayTell(at now: Milliseconds) -> Bool {
        // A clock that was set back keeps nobody from being told.
        let toldAt = telling.toldAt
        return toldAt == 0 || now < toldAt || now - toldAt >= Milliseconds(minutes) * 60_000
    }

    /// What it is told by.
    package var ways: AlertWays {
        (mail.isEmpty ? [] : AlertWays.mail).union(url.isEmpty ? [] : .url)
    }
}

/// Why an alert is not added or found.
package enum AlertRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    case exists
    case unknown
    case tooMany
    case illegal(String)

    package var description: String {
        switch self {
        case .exists: "there is an alert of this name"
        case .unknown: "there is no alert of this name"
        case .tooMany: "there are \(AlertRule.countMax) alerts already"
        case .illegal(let what): what
        }
    }
}
