import Storage

/// Lists the keys whose holders may sign requests.
package struct ListServerKeys: AdministrativeAction {
    package var name: String { "server-key list" }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> [ServerKeyRecord] {
        try data.serverKeys.list()
    }
}
