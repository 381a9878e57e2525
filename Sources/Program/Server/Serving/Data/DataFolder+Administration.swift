import Accounts
import Administration
import AssetStorage
import Audit
import CloudModel
import Control
import Delivery
import HTTPClient
import Network
import RequestRecords
import Storage
import Telemetry

extension DataFolder: ServerData {
    package func requireKeysAsKept() throws {
        try SecretKeys.requireUnchanged(secrets, configuration, of: path)
    }

    package func environments(
        _ request: ListRequest
    ) throws -> ListPage<ContainerEnvironment> {
        try engine.stores(request).filter(\.isThere).map {
            ContainerEnvironment($0.key.container, $0.key.environment)
        }
    }

    package func findings(
        of targets: [ContainerEnvironment]
    ) throws -> [ContainerEnvironment: StoreFinding] {
        let findings = try engine.findings(
            of: targets.map { StoreKey($0.container, $0.environment) })
        return Dictionary(
            uniqueKeysWithValues: findings.map {
                (ContainerEnvironment($0.key.container, $0.key.environment), $0.value)
            })
    }

    package func store(
        of container: ContainerID, in environment: Environment
    ) throws -> any Store {
        try stores.store(of: container, in: environment)
    }

    package func space(of target: ContainerEnvironment) throws -> any SpaceKeeping {
        try stores.store(of: target.container, in: target.environment)
    }

    package func assetStore(of target: ContainerEnvironment) -> AssetStore {
        stores.assetStore(of: Stores.Key(target.container, target.environment))
    }

    package func reset(
        _ target: ContainerEnvironment, to beginning: EnvironmentBeginning
    ) throws {
        try stores.reset(
            Stores.Key(target.container, target.environment),
            StoreBeginning(
                schema: beginning.schema, moment: clock.now(), who: beginning.author,
                difference: beginning.difference))
    }

    package func backUp(to destination: any BackupDestination) throws -> BackupReport {
        BackupReport(
            problems: try DataBackup.copy(self, to: destination),
            secretKeyPath: SecretKeys.isInBackup(configuration)
                ? nil : SecretKeys.path(configuration, of: path))
    }

    package func sendOnce(_ notice: OutgoingNotice) throws -> DeliveryOutcome {
        let traffic = try OutgoingTraffic(configuration)
        defer { traffic.stop() }
        let pending = Pending<DeliveryOutcome>()
        NoticeSenders.webhooks(self, traffic).send(notice) { pending.end(.success($0)) }
        // Each request has a deadline.
        return try pending.wait()
    }

    package func sourceRequests() throws -> any SourceRequests {
        try CheckedRequests(configuration)
    }

    package func obstacle(to url: String) -> String? {
        guard let url = TargetURL(url) else { return "it is no URL" }
        do {
            let addresses = try ResolvedAddress.resolve(
                host: url.origin.host, port: url.origin.port)
            try configuration.targetPolicy.require(
                url.origin, namedBy: .operators, at: addresses)
            return nil
        } catch let refusal as TargetRefusal {
            return "\(refusal)"
        } catch {
            return "its name cannot be looked up (\(error))"
        }
    }

    package func requests() throws -> (any RequestStorage)? { try requestLines.current() }

    package func telemetry() throws -> any TelemetryStorage { try telemetryFile.storage() }

    package func auditPage(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws -> AuditPage {
        try audit.page(before: end, since: since, prefix: prefix, limit: limit)
    }

    /// Keeps in the audit log what somebody is about to do to their own account.
    static func ownersNote(in audit: any AuditStorage) -> AccountUseCases.Note {
        { what, account, now in
            try audit.note(
                AuditEntry(
                    time: now, who: "the account's owner", what: what, account: account.text))
        }
    }

    /// Keeps in the audit log what an operator is about to do.
    ///
    /// - Throws: `CommandFailure`; then it must not be done.
    package func note(_ entry: ActionEntry) throws {
        guard entry.isNoted else { return }
        let subject = entry.subject
        let detail = [subject.container?.name, subject.environment?.rawValue, subject.item]
            .compactMap { $0 }.joined(separator: " ")
        do throws(AuditFailure) {
            try audit.note(
                AuditEntry(
                    time: entry.moment, who: entry.actor.description, what: entry.action,
                    account: subject.account?.text,
                    detail: detail.isEmpty ? nil : String(detail.prefix(256))))
        } catch {
            throw CommandFailure("nothing was done, because it cannot be noted: \(error)")
        }
    }
}
