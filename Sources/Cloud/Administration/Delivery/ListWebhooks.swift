import Delivery

/// Lists the webhooks of a container environment, with what waits for each and what was given up.
package struct ListWebhooks: AdministrativeAction {
    package var name: String { "webhook list" }

    package var right: ActionRight { .container }

    private let target: NamedEnvironment

    package init(of target: NamedEnvironment) { self.target = target }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> [Webhooks.Entry] {
        try target.webhooks(in: data).list()
    }
}
