import CNetwork
import Platform
import Synchronization

/// A thread of the operating system, started once and joined once.
package final class Thread: Sendable {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        let owner: Thread

        init(name: String, body: @escaping @Sendable () -> Void, owner: Thread) {
            self.name = name
            self.body = body
            self.owner = owner
        }
    }

    /// The thread's id as bits, zero before it runs and after it was joined.
    private let identity = Atomic<UInt>(0)

    package init() {}

    /// Runs the body on a thread of that name (15 bytes are kept).
    package func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body, owner: self))
        #if canImport(Darwin)
            var created: pthread_t?
            let code = pthread_create(&created, nil, threadMain, start.toOpaque())
        #else
            var created = pthread_t()
            let code = pthread_create(&created, nil, threadMain, start.toOpaque())
        #endif
        guard code == 0 else {
            start.release()
            throw SystemError(call: "pthread_create", code: code)
        }
        identity.store(Self.bits(created), ordering: .releasing)
    }

    /// True when called on this thread.
    package var isCurrent: Bool {
        identity.load(ordering: .acquiring) == Self.bits(pthread_self())
    }

    /// What the system calls the calling thread; 0 where niceness is the process's alone.
    package static var currentID: Int32 { network_thread() }

    /// Lets a thread wait for others when all processors are busy; never takes it forward again.
    package static func setNiceness(_ niceness: Int32, of thread: Int32) {
        network_set_niceness(thread, niceness)
    }

    /// Waits for the thread's end.
    package func join() {
        let bits = identity.exchange(0, ordering: .acquiringAndReleasing)
        if bits == 0 { return }
        #if canImport(Darwin)
            if let thread = pthread_t(bitPattern: bits) { pthread_join(thread, nil) }
        #else
            pthread_join(pthread_t(bits), nil)
        #endif
    }

    #if canImport(Darwin)
        private static func bits(_ thread: pthread_t?) -> UInt { UInt(bitPattern: thread) }
    #else
        private static func bits(_ thread: pthread_t) -> UInt { UInt(thread) }
    #endif

    fileprivate static func main(_ argument: UnsafeMutableRawPointer) {
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.owner.identity.store(bits(pthread_self()), ordering: .releasing)
        network_name_thread(String(start.name.prefix(15)))
        start.body()
    }
}

#if canImport(Darwin)
    private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Thread.main(argument)
        return nil
    }
#else
    private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let argument { Thread.main(argument) }
        return nil
    }
#endif
