import Storage

/// Lists the keys whose holders may sign requests, searched by their IDs.
///
/// Refusals: `UnusableCursor`.
package struct ListServerKeys: AdministrativeAction {
    package var name: String { "server-key list" }

    package var right: ActionRight { .filtered }

    private let request: ListRequest

    package init(_ request: ListRequest = ListRequest()) { self.request = request }

    package var changes: Bool { false }

    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> ListPage<ServerKeyRecord> {
        try data.serverKeys.list(request, of: actor.rights.containers)
    }
}
