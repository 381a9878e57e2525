import Delivery

/// Lists the webhooks of a container environment, with what waits for each and what was given up.
package struct ListWebhooks: AdministrativeAction {
    package var name: String { "webhook list" }

    private let place: NamedEnvironment

    package init(of place: NamedEnvironment) { self.place = place }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(place, in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Webhooks.Entry] {
        try place.webhooks(in: data).list()
    }
}
