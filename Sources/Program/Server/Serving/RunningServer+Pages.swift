import Accounts
import Configuration
import Pages
import WebServices

extension RunningServer {
    /// The link by which the first operator of a new server makes themselves; nil where somebody or something is there
    /// already, and when it was told before.
    package func firstOperatorLink() throws -> String? {
        let base = folder.configuration.reached(at: addresses).baseURL
        return try folder.accountUseCases.firstOperator.offer(now: folder.clock.now()).map {
            "\(base)/sign-in/first#\($0)"
        }
    }

    /// Whatever answers at the addresses of apps and people.
    static func responder(
        on folder: DataFolder, _ reached: ServerConfiguration, _ readiness: Readiness,
        _ metrics: Metrics, _ protocolResponder: ProtocolResponder, _ books: Phrasebooks,
        _ mark: ServiceMark, _ console: ConsoleAccess?, _ log: Log
    ) throws -> ServerResponder {
        try ServerResponder(
            readiness: readiness, metrics: metrics,
            metricsAccess: MetricsAccess(token: folder.configuration.metrics.bearerToken.revealed),
            protocolResponder: protocolResponder,
            pages: Self.pages(on: folder, reached, books, mark, log: log), mark: mark,
            linkHost: LinkHost(of: reached.baseURL, log), probe: folder.addressProbe,
            description: Self.descriptionPages(on: folder, reached, console?.described))
    }

    /// The part that shows pages to people.
    ///
    /// - Parameters:
    ///   - configuration: the folder's, with the ports that are in use.
    ///   - books: the languages at hand.
    ///   - mark: whose server it is.
    static func pages(
        on folder: DataFolder, _ configuration: ServerConfiguration, _ books: Phrasebooks,
        _ mark: ServiceMark, log: Log
    ) throws -> PagesResponder {
        let shares = try StoreShares(folder, baseURL: configuration.baseURL)
        return try PagesResponder(
            folder.accountUseCases, shares: shares, books: books, mark: mark,
            clientFolder: ClientFiles.folder, clock: folder.clock
        ) { page in
            if let failure = page.failure {
                log.error(
                    "page failed inside",
                    [("request", .text(page.requestID)), ("failure", .text(failure))])
            }
            log.sampled(
                "page",
                [("request", .text(page.requestID)), ("page", .text(page.page))]
                    + (log.showsClients
                        ? [("client", .text(page.client ?? "unknown"))] : [])
                    + [
                        ("status", .number(Int64(page.status))),
                        (
                            "milliseconds",
                            .microseconds(Int64(clamping: page.durationNanoseconds / 1_000))
                        ),
                    ])
        }
    }
}

extension SignUpMode {
    init(_ setting: AccountSettings.SignUp) {
        switch setting {
        case .off: self = .off
        case .invitation: self = .invitation
        case .open: self = .open
        }
    }
}
