import Administration
import CProcess
import Configuration
import Control
import Dispatch
import Network
import Server
import Storage
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Command {
    static let serve = Command(
        "serve", "run the server until it is told to stop",
        options: [
            CommandOption(
                "listen", value: "HOST:PORT|unix:PATH", "an address to listen at",
                isRepeatable: true),
            CommandOption("log-format", value: "auto|json|text", "how events are written"),
            CommandOption(
                "dev", "make a container to try out in an empty data folder; loopback only"),
        ],
        action: .local { invocation, process in
            try ServeProcess(invocation: invocation, process: process).run()
        })
}

/// The life of the process that serves: start, signals, end.
struct ServeProcess {
    /// How long a start waits for a command that holds the data folder to end.
    static let folderSecondsMax = 5
    /// What a commit of unknown outcome ends the process with, for its supervisor to start it again
    /// (`EX_IOERR` of sysexits.h).
    static let indeterminateStatus: Int32 = 74
    /// How long answers have to go out before the process ends by itself.
    static let answerMicroseconds: UInt32 = 200_000

    let invocation: Invocation
    let process: ProcessEnvironment

    /// Serves until a signal says to stop.
    func run() throws -> CommandOutput {
        lenticular_limit_arenas(2)
        DescriptorRoom.raiseLimit()
        let loaded = try LoadedConfiguration(for: invocation, in: process)
        var configuration = loaded.values
        let isDevelopment = invocation.has("dev")
        if isDevelopment { DevelopmentSetup.printLetters(&configuration) }
        if isDevelopment {
            try DevelopmentSetup.checkIsLocal(
                configuration.addresses, environment: process.environment)
        }
        try configuration.requireUsable(in: process)
        let log = Log(
            format: LogFormat(
                configuration.log.format, isTerminal: process.isOutputTerminal),
            level: LogLevel(configuration.log.level),
            clock: process.clock, showsClients: configuration.log.clientAddresses == .all)
        for warning in loaded.warnings + configuration.oddities {
            log.warning("odd setting", [("warning", .text(warning))])
        }
        let stop = DispatchSemaphore(value: 0)
        let reload = Reload()
        let signals = watchSignals(stop, reload, log)
        let folder = try open(configuration, log)
        folder.serving.note(loaded, since: process.clock.now())
        let server: RunningServer
        do {
            server = try RunningServer(
                folder: folder, log: log,
                console: ConsoleAccess(
                    wantsSecondFactor: !isDevelopment, commands: CommandConsole().described,
                    streams: CommandConsole().streams, answer: CommandConsole().answer),
                commands: CommandLineProgram.answer)
            let settings = SettingsReload(loaded, log) {
                try LoadedConfiguration(for: invocation, in: process)
            }
            reload.set {
                server.reloadCertificates()
                settings.run()
            }
        } catch {
            folder.close()
            guard let damage = error as? any EngineFault, damage.isDamage else { throw error }
            throw CommandFailure(
                "a database in \(folder.path) is damaged (\(damage)); `lenticular check` names it")
        }
        try greet(server, isDevelopment: isDevelopment)
        tellServing(server, log)
        wait(for: stop, of: server)
        log.info("stopped")
        log.flush()
        // Kept to the end, as a second signal ends the process at once.
        withExtendedLifetime(signals) {}
        return CommandOutput()
    }

    /// Tells the service manager how the server stands until it is told to stop, and stops it.
    private func wait(for stop: DispatchSemaphore, of server: RunningServer) {
        let notifier = ServiceNotifier(path: process.environment["NOTIFY_SOCKET"])
        notifier.ready()
        let watchdog = Watchdog(
            notifier, microseconds: process.environment["WATCHDOG_USEC"],
            asking: server.addresses, of: server.folder.configuration)
        lenticular_release_memory()
        stop.wait()
        notifier.stopping()
        watchdog?.stop()
        server.drain(withinSeconds: server.folder.configuration.http.drainSecondsMax)
    }

    /// Prints what is shown once: a development's secrets, or the first operator's link.
    private func greet(_ server: RunningServer, isDevelopment: Bool) throws {
        guard !isDevelopment else { return try showDevelopment(of: server) }
        guard let link = try server.firstOperatorLink() else { return }
        var text =
            "no operator yet: the first one opens this within an hour, shown this once\n\(link)\n"
        if let console = server.consoleAddress {
            text += "and then signs in at the console: http://\(console)/console/\n"
        }
        // Standard output may be a log, which keeps no secret.
        process.writeError(Array(text.utf8))
    }

    private func tellServing(_ server: RunningServer, _ log: Log) {
        log.info(
            "serving",
            [
                ("version", .text(ProgramVersion.text)), ("data", .text(server.folder.path)),
                (
                    "listen",
                    .text(server.addresses.map(\.description).joined(separator: " "))
                ),
                ("metrics", .text(server.metricsAddress?.description ?? "")),
                ("console", .text(server.consoleAddress?.description ?? "")),
            ])
    }

    private func showDevelopment(of server: RunningServer) throws {
        guard let address = server.addresses.first else { return }
        // What it makes is printed, secrets and all: noting it beside that would tell nothing.
        let administrator = Administrator(
            .commandLine(userNumber: process.userNumber), on: server.folder)
        let setup = DevelopmentSetup(
            folder: server.folder, administrator: administrator, address: address,
            program: process.program)
        let text = try setup.make() ?? setup.reminder()
        process.writeOutput(Array((text + "\n").utf8))
    }

    /// Takes over the signals before anything else is made, so that none is lost.
    private func watchSignals(_ stop: DispatchSemaphore, _ reload: Reload, _ log: Log) -> Signals {
        Signals(
            onStop: { previous in
                guard previous == 0 else { _exit(1) }
                log.info("stopping")
                stop.signal()
            }, onReload: { reload.run() })
    }

    /// What SIGHUP does; nothing until there is a server.
    private final class Reload: Sendable {
        private let action = Mutex<@Sendable () -> Void>({})

        func run() { action.withLock { $0 }() }

        func set(_ action: @escaping @Sendable () -> Void) { self.action.withLock { $0 = action } }
    }

    private func open(_ configuration: ServerConfiguration, _ log: Log) throws -> DataFolder {
        let path = configuration.data
        try DataFolder.make(path)
        for _ in 0..<(Self.folderSecondsMax * 20) {
            let folder = try DataFolder.open(
                path, configuration: configuration, process: process
            ) { reason in
                log.error("commit of unknown outcome", [("reason", .text(reason))])
                log.flush()
                // The answers that say so are on their way out on other threads.
                usleep(Self.answerMicroseconds)
                _exit(Self.indeterminateStatus)
            }
            if let folder { return folder }
            if HealthProbe.isAnyoneListening(at: DataFolder.controlSocketPath(in: path)) {
                throw CommandFailure("another server runs on \(path)")
            }
            usleep(50_000)
        }
        throw CommandFailure("another process holds \(path)")
    }
}
