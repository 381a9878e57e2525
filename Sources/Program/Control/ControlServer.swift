import Dispatch
import Files
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Answers the commands that other processes of this machine send to the one that holds the data
/// folder.
package final class ControlServer: Sendable {
    /// How long a caller may take to send its command and to take the answer.
    private static let callerSeconds = 10
    /// Commands that run at the same time; more wait, with their callers.
    private static let commandCountMax = 8
    /// Callers who have not sent their whole command yet; for one more the first of them has to go.
    private static let silentCountMax = 64

    private static let restMicroseconds: UInt32 = 100_000

    /// Runs a command; what it makes for the caller, and asks of them, goes to the calling process.
    ///
    /// Gets the number of the system's user who gave it.
    package typealias Run = @Sendable (ControlRequest, UInt32, CallingProcess) -> CommandAnswer

    private let path: String
    private let run: Run
    private let accepting = DispatchQueue(label: "lenticular.control")
    private let slots = DispatchSemaphore(value: ControlServer.commandCountMax)
    private let unfinished = DispatchGroup()
    private let isOpen = Atomic(true)
    /// The callers that have not sent their whole command, by descriptor, the oldest first.
    private let silent = Mutex<[Int32]>([])
    /// A spare descriptor, to be closed when one is needed.
    private let spare = Mutex(open("/dev/null", O_RDONLY | O_CLOEXEC))
    /// The callers whose commands wait for something, by descriptor.
    private let waiting = Mutex<Set<Int32>>([])
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    /// Listens at the path from now on.
    ///
    /// - Parameter run: called on a queue of its own for each command.
    /// - Throws: `CommandFailure` when the socket cannot be made.
    package init(path: String, run: @escaping Run) throws(CommandFailure) {
        let listener: LocalSocket
        do {
            listener = try LocalSocket.listen(at: path)
        } catch {
            throw CommandFailure("cannot listen at \(path): \(error.reason)")
        }
        self.path = path
        self.run = run
        source = DispatchSource.makeReadSource(
            fileDescriptor: listener.descriptor, queue: accepting)
        source.setEventHandler { [weak self] in self?.takeCaller(at: listener) }
        source.setCancelHandler { withExtendedLifetime(listener) {} }
        source.activate()
    }

    /// Takes no more commands and waits for those that run, but no longer than this.
    ///
    /// Hangs up on who has not sent a command, and on whose command waits for something.
    package func close(withinSeconds seconds: Int) {
        guard isOpen.exchange(false, ordering: .relaxed) else { return }
        source.cancel()
        silent.withLock { for caller in $0 { Self.hangUp(caller) } }
        waiting.withLock { for caller in $0 { Self.hangUp(caller) } }
        FileSystem.removeFile(path)
        spare.withLock { spare in
            if spare >= 0 { systemClose(spare) }
            spare = -1
        }
        _ = unfinished.wait(timeout: .now() + .seconds(seconds))
    }

    private func takeCaller(at listener: LocalSocket) {
        let caller: LocalSocket
        do {
            caller = try listener.accept()
        } catch {
            // NB: a caller that has gone needs nothing.
            if case .system(_, EMFILE) = error { shed(at: listener) }
            if case .system(_, ENFILE) = error { shed(at: listener) }
            return
        }
        caller.setDeadline(seconds: ControlServer.callerSeconds)
        silent.withLock { silent in
            if silent.count >= Self.silentCountMax { Self.hangUp(silent.removeFirst()) }
            silent.append(caller.descriptor)
        }
        // A queue of its own has a thread at once; a concurrent one waits for the processors to be free.
        DispatchQueue(label: "lenticular.command").async(group: unfinished) { [self] in
            serve(caller)
        }
    }

    /// Lets the thread that waits for a caller notice that it has gone; its descriptor stays open until they
    /// have.
    private static func hangUp(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Takes a caller's command; nil for a caller that may give none.
    private func command(of caller: LocalSocket) throws -> (request: ControlRequest, user: UInt32)?
    {
        defer { silent.withLock { $0.removeAll { $0 == caller.descriptor } } }
        guard let user = caller.peerUser, user == 0 || user == geteuid() else { return nil }
        return try ControlRequest(frame: caller.receive()).map { ($0, UInt32(user)) }
    }

    /// Closes a caller's connection when no descriptor is left, by means of the spare one.
    ///
    /// So the caller fails at once, and this queue does not spin.
    private func shed(at listener: LocalSocket) {
        spare.withLock { spare in
            if spare >= 0 { systemClose(spare) }
            // NB: closed again by going out of use, and if it fails there is nobody to end.
            _ = try? listener.accept()
            spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
            // Others may have been faster; a moment's rest is all that is left then.
            if spare < 0 { usleep(Self.restMicroseconds) }
        }
    }

    /// Others may have the slot of a command that waits.
    private func wait(_ caller: LocalSocket, _ begins: Bool) {
        if begins {
            _ = waiting.withLock { $0.insert(caller.descriptor) }
            // Closed in between: nobody else would hang up.
            if !isOpen.load(ordering: .relaxed) { Self.hangUp(caller.descriptor) }
            slots.signal()
        } else {
            _ = waiting.withLock { $0.remove(caller.descriptor) }
            slots.wait()
        }
    }

    private func serve(_ caller: LocalSocket) {
        do {
            guard let (request, user) = try command(of: caller) else { return }
            // A silent caller must not keep a slot from others.
            slots.wait()
            defer { slots.signal() }
            let process = CallingProcess(caller) { [self] in wait(caller, $0) }
            let answer = run(request, user, process)
            try caller.send(answer.frame)
        } catch {
            // NB: the caller sees the connection end and says so; there is nobody else to tell.
            return
        }
    }
}

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }
