import CProcess

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A blocking Unix socket between processes of one machine, with deadlines.
///
/// Used by one thread at a time; closed when it goes.
final class LocalSocket: Sendable {
    enum Failure: Error, Equatable {
        /// No process listens there.
        case absent
        case timedOut
        /// The other side went away, before or within a frame.
        case closed
        /// A frame is longer than `frameBytesMax`.
        case tooLong
        case system(call: String, code: Int32)

        /// For people.
        var reason: String {
            switch self {
            case .absent: "nobody listens there"
            case .timedOut: "it took too long"
            case .closed: "the connection ended"
            case .tooLong: "the message is too long"
            case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
            }
        }
    }

    /// Of one frame, without its length.
    static let frameBytesMax = 16_777_216

    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Listens at a path that the caller owns, putting away a socket left there; mode 0600.
    static func listen(at path: String) throws(Failure) -> LocalSocket {
        let listener = try make()
        unlink(path)
        let bound = withAddress(of: path) { bind(listener.descriptor, $0, $1) }
        guard bound == 0 else { throw .system(call: "bind", code: errno) }
        // The permissions are set before it listens, so that it is never open to others, not even for a moment.
        // A mask would be the whole process's: what other threads make meanwhile would get a wrong mode.
        guard chmod(path, 0o600) == 0 else { throw .system(call: "chmod", code: errno) }
        guard Self.systemListen(listener.descriptor) == 0 else {
            throw .system(call: "listen", code: errno)
        }
        return listener
    }

    /// Connects to the process that listens at a path.
    static func connect(to path: String) throws(Failure) -> LocalSocket {
        let socket = try make()
        let code = withAddress(of: path) { address, length in
            systemConnect(socket.descriptor, address, length)
        }
        if code == 0 { return socket }
        if errno == ENOENT || errno == ECONNREFUSED { throw .absent }
        throw .system(call: "connect", code: errno)
    }

    /// Waits for the next caller.
    func accept() throws(Failure) -> LocalSocket {
        while true {
            let accepted = systemAccept(descriptor)
            if accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                return LocalSocket(descriptor: accepted)
            }
            if errno != EINTR, errno != ECONNABORTED {
                throw .system(call: "accept", code: errno)
            }
        }
    }

    /// The user of the process at the other end; nil when the system does not say.
    var peerUser: uid_t? {
        var user: uid_t = 0
        return lenticular_peer_user(descriptor, &user) == 0 ? user : nil
    }

    /// Bounds every later wait; nil waits for ever.
    func setDeadline(seconds: Int?) {
        var time = timeval(tv_sec: seconds ?? 0, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    /// Sends one frame: its length in four bytes, most significant first, then the bytes.
    func send(_ frame: [UInt8]) throws(Failure) {
        guard frame.count <= LocalSocket.frameBytesMax else { throw .tooLong }
        let length = UInt32(frame.count).bigEndian
        try sendAll(withUnsafeBytes(of: length) { Array($0) } + frame)
    }

    /// Sends bytes as they are.
    func sendAll(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { systemSend(descriptor, $0[sent...]) }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                throw failure(of: "send")
            }
        }
    }

    /// Takes bytes until the other side ends.
    func receiveToEnd(bytesMax: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let got = recv(descriptor, &piece, piece.count, 0)
            if got == 0 { return bytes }
            if got > 0 {
                bytes.append(contentsOf: piece[..<got])
                if bytes.count > bytesMax { throw .tooLong }
            } else if errno != EINTR {
                throw failure(of: "recv")
            }
        }
    }

    /// Takes one frame.
    func receive() throws(Failure) -> [UInt8] {
        let length = try receive(count: 4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= LocalSocket.frameBytesMax else { throw .tooLong }
        return try receive(count: length)
    }

    private func receive(count: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(count, 65_536))
        while bytes.count < count {
            let got = recv(descriptor, &piece, min(piece.count, count - bytes.count), 0)
            if got > 0 {
                bytes.append(contentsOf: piece[..<got])
            } else if got == 0 {
                throw .closed
            } else if errno != EINTR {
                throw failure(of: "recv")
            }
        }
        return bytes
    }

    private func failure(of call: String) -> Failure {
        switch errno {
        case EAGAIN: .timedOut
        case EPIPE, ECONNRESET: .closed
        default: .system(call: call, code: errno)
        }
    }

    private static func make() throws(Failure) -> LocalSocket {
        #if canImport(Glibc)
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return LocalSocket(descriptor: descriptor)
    }

    private static func systemListen(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.listen(descriptor, 16)
        #else
            Darwin.listen(descriptor, 16)
        #endif
    }
}

/// Hands a path's address to a call: 0, or -1 with `errno`.
private func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    var folder: Int32 = -1
    defer { if folder >= 0 { close(folder) } }
    #if os(Linux)
        // A folder's own descriptor makes any path short enough.
        if name.count >= capacity, let slash = path.lastIndex(of: "/") {
            folder = open(String(path[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            name = Array("/proc/self/fd/\(folder)\(path[slash...])".utf8)
        }
    #endif
    guard name.count < capacity else {
        errno = ENAMETOOLONG
        return -1
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

func systemConnect(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 {
    connect(descriptor, address, length)
}

private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

private func systemSend(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let buffer = UnsafeRawBufferPointer(rebasing: bytes)
    #if os(Linux)
        return send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
    #else
        return send(descriptor, buffer.baseAddress, buffer.count, 0)
    #endif
}
