#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Tells the service manager how the server stands, as sd_notify(3) describes.
package struct ServiceNotifier: Sendable {
    private let path: String?

    /// - Parameter path: the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract
    ///   name; nil where nobody wants to know.
    package init(path: String?) {
        self.path = path.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    package func ready() { send("READY=1") }

    /// Says that the server still answers.
    func alive() { send("WATCHDOG=1") }

    package func stopping() { send("STOPPING=1") }

    private func send(_ state: String) {
        guard let path else { return }
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        // NB: a manager that does not listen is no reason to stop; it will say so itself.
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(descriptor, state, state.utf8.count, 0, address, length)
            }
        }
    }
}
