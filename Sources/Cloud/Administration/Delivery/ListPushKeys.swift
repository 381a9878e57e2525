import Storage

/// Lists the keys by which the server pushes to apps, and its own towards browsers.
package struct ListPushKeys: AdministrativeAction {
    /// What there is.
    package struct Outcome: Sendable {
        package let keys: [PushKeyRecord]
        /// What a page hands to the browser when it subscribes (`applicationServerKey`).
        package let webPushKey: String
    }

    package var name: String { "push key list" }

    package var right: ActionRight { .filtered }

    package init() {}

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        Outcome(
            keys: try data.pushKeys.list().filter { actor.rights.reach($0.container) },
            webPushKey: try data.pushKeys.ownPublicKey())
    }
}
