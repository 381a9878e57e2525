import Accounts
import CloudModel
import Delivery

/// Lets the server push to one of a container's apps on Apple's devices.
///
/// Refusals: those of `PushKeys.add`.
package struct AddPushKey: AdministrativeAction {
    package var name: String { "push key add" }

    package var right: ActionRight { .container }

    private let container: String
    private let topic: String
    private let keyID: String
    private let teamID: String
    private let pem: String

    /// - Parameters:
    ///   - topic: the app's bundle ID.
    ///   - pem: the private key, as Apple gives it out.
    package init(
        _ pem: String, keyID: String, teamID: String, topic: String, to container: String
    ) {
        self.container = container
        self.topic = topic
        self.keyID = keyID
        self.teamID = teamID
        self.pem = pem
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(container: try data.containers.find(container).id, item: topic)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.pushKeys.add(
            pem, keyID: keyID, teamID: teamID, topic: topic,
            to: try data.containers.find(container).id, now: data.clock.now())
    }
}
