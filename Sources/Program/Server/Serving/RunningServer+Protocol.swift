import Accounts
import CloudModel
import Configuration
import Network
import Storage
import WebServices

extension RunningServer {
    /// The part that answers the protocol, on a data folder's catalog and stores.
    ///
    /// - Parameter configuration: the folder's, with the ports that are in use.
    static func protocolResponder(
        on folder: DataFolder, _ configuration: ServerConfiguration, observer: any RequestObserver,
        log: Log
    ) throws -> ProtocolResponder {
        let (stores, catalog) = (folder.stores, folder.catalog)
        let authenticator = try Authenticator(
            catalog: catalog, settings: configuration.accountsSettings, random: folder.random,
            publicBaseURL: configuration.baseURL
        ) { error in
            log.error("the catalog failed", [("failure", .text("\(error)"))])
        }
        var dependencies = ProtocolResponder.Dependencies(
            limits: folder.limits, clock: folder.clock, random: folder.random,
            authenticator: authenticator, catalog: catalog,
            stores: stores,
            assets: configuration.assetOptions, observer: observer,
            workers: configuration.workers,
            loopCount: configuration.loopCount)
        dependencies.rates = configuration.rateLimits
        dependencies.processCount = { [engine = folder.engine] in engine.processes.count }
        dependencies.courierBaseURL = configuration.baseURL
        if !ApplePushSupport.isBuilt { dependencies.destinationKinds.remove(.apns) }
        return ProtocolResponder(dependencies)
    }

    /// What keeps lines of requests; nil where the settings say so.
    static func requestKeeper(
        of folder: DataFolder, in metrics: Metrics, _ log: Log
    ) throws -> RequestKeeper? {
        guard let storage = try folder.requestLines.storage() else { return nil }
        let keeper = RequestKeeper(storage, clock: folder.clock) { error in
            log.warning("lines of requests were not kept", [("failure", .text("\(error)"))])
        }
        folder.requestLines.attach { [keeper] in keeper.flush() }
        metrics.counter(
            "lenticular_request_lines_lost_total", "Requests of which no line could be kept."
        ) { Double(keeper.lostCount) }
        metrics.gauge("lenticular_request_lines_bytes", "Bytes of the lines of requests.") {
            Double(storage.byteCount)
        }
        return keeper
    }
}
