import CloudModel
import Delivery
import Storage

/// Lists what was given up for a webhook, the oldest first, without what it would have told.
///
/// Refusals: `DeliveryRefusal.webhookUnknown`, `UnusableCursor`.
package struct ListDeadLetters: AdministrativeAction {
    package var name: String { "webhook dead-letters" }

    package var right: ActionRight { .container }

    private static let list = "dead-letters"

    private let target: NamedEnvironment
    private let webhook: String
    private let request: ListRequest

    /// - Parameter request: its prefix is not asked for.
    package init(of webhook: String, in target: NamedEnvironment, _ request: ListRequest) {
        self.target = target
        self.webhook = webhook
        self.request = request
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, item: webhook)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ListPage<StoredNotice> {
        let after = try request.after.map { cursor throws(UnusableCursor) in
            guard let number = Int64(try cursor.fields(of: Self.list, count: 1)[0]) else {
                throw UnusableCursor()
            }
            return number
        }
        let found = try target.webhooks(in: data).deadLetters(
            of: webhook, after: NoticeNumber(after ?? 0), limit: request.limit + 1)
        let items = Array(found.prefix(request.limit))
        let last = found.count > items.count ? items.last : nil
        return ListPage(
            items: items,
            next: last.map { ListCursor(list: Self.list, fields: ["\($0.number.value)"]) })
    }
}
