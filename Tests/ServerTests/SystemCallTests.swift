import Foundation
import Testing

/// What the server asks of the system, as strace shows it.
@Suite("System calls of the server", .enabled(if: FaultTracer.isAvailable))
struct SystemCallTests {
    private let folder: TemporaryFolder
    private let trace: String

    init() throws {
        folder = try TemporaryFolder()
        trace = folder.path("trace")
    }

    /// A server each of whose calls of some kinds is written down, with its time and the paths of descriptors.
    private func start(_ calls: String, _ more: [String] = []) throws -> AssetFixture {
        try AssetFixture(
            data: folder.path("data"),
            under: [
                "/usr/bin/strace", "-D", "-f", "-y", "-ttt", "-o", trace, "-e", "trace=\(calls)",
            ]
                + more)
    }

    /// Stops the server; the calls in the order of their beginnings.
    private func calls(of test: AssetFixture) throws -> [Substring] {
        test.server.signal(SIGTERM)
        #expect(test.server.wait() == 0)
        return try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    }

    /// A path without `.` and `..`.
    private func plain(_ path: Substring) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The place in the trace at which each folder of this name was brought to the disk.
    private func synchronized(_ calls: [Substring]) -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        for (location, call) in calls.enumerated() {
            guard let path = call.firstMatch(of: #/f(?:data)?sync\(\d+<([^>]*)>/#)?.1 else {
                continue
            }
            found[plain(path), default: []].append(location)
        }
        return found
    }

    @Test(
        "Each new folder's name is brought to the disk, and so is one that a killed start has made")
    func folders() throws {
        let location = "\(folder.path("data"))/containers/icloud.a/development"
        // The start that made these was ended before it synchronized anything.
        let assets = "\(location)/assets"
        for byte in 0...255 {
            try FileManager.default.createDirectory(
                atPath: "\(assets)/" + String(format: "%02x", byte),
                withIntermediateDirectories: true)
        }
        // A catalog must be there, or folders would be.
        let early = try ServerProcess(data: folder.path("early"))
        early.signal(SIGTERM)
        _ = early.wait()
        try FileManager.default.moveItem(
            atPath: "\(folder.path("early"))/catalog.sqlite",
            toPath: "\(folder.path("data"))/catalog.sqlite")
        let test = try start("mkdir,mkdirat,fsync,fdatasync")
        let file = folder.path("file")
        _ = try makeFile(file, bytes: 100_000)
        try test.save("a", test.upload(file: file))
        let calls = try calls(of: test)
        let synchronized = synchronized(calls)
        var made = 0
        for (location, call) in calls.enumerated() {
            guard
                let match = call.firstMatch(
                    of: #/mkdir(?:at)?\((?:AT_FDCWD[^,]*, )?"([^"]+)".* = 0$/#)
            else { continue }
            // Sums can be made again from what they are of.
            let path = plain(match.1)
            guard path.hasPrefix(folder.path("data")), !path.contains("/assets-sums") else {
                continue
            }
            made += 1
            let above = (path as NSString).deletingLastPathComponent
            #expect(synchronized[above]?.contains { $0 > location } == true, "\(path)")
        }
        #expect(made > 0)
        for above in [
            assets, location, "\(folder.path("data"))/containers/icloud.a",
            "\(folder.path("data"))/containers", folder.path("data"),
        ] {
            #expect(synchronized[above] != nil, "\(above)")
        }
    }

    @Test(
        "Sums of assets come to the disk before their name, so that a power cut leaves them whole or none"
    )
    func sums() throws {
        let test = try start("openat,write,fsync,fdatasync,rename,renameat,renameat2")
        let file = folder.path("file")
        for number in 1...3 {
            _ = try makeFile(file, bytes: 100_000, number: UInt64(number))
            try test.save("a\(number)", test.upload(file: file))
        }
        let calls = try calls(of: test)
        let synchronized = synchronized(calls)
        var placed = 0
        for (location, call) in calls.enumerated() where call.contains("/assets-sums/") {
            if let opened = call.firstMatch(of: #/openat\([^"]*"([^"]+)", [^)]*O_(?:WRONLY|RDWR)/#)
            {
                #expect(opened.1.contains("/assets-sums/incoming/"), "\(call)")
            }
            guard let moved = call.firstMatch(of: #/rename[at2]*\([^"]*"([^"]+)"[^"]*"([^"]+)"/#)
            else { continue }
            placed += 1
            let written = calls[..<location].lastIndex {
                $0.contains("write(") && $0.contains(moved.1)
            }
            let isSynchronized = synchronized[plain(moved.1)]?.contains {
                $0 < location && $0 > written ?? .max
            }
            #expect(isSynchronized == true, "\(call)")
        }
        #expect(placed == 3)
    }

    @Test("No wait of a writer goes by the time of day, which somebody may set back")
    func clock() throws {
        let test = try start("futex,fdatasync", ["-e", "inject=fdatasync:delay_enter=5000"])
        // Two at once and slow commits, so that one waits for the other's half of a group.
        let savers = (0..<2).map { number in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for count in 0..<60 {
                    _ = try? test.post(
                        "records/modify",
                        #"{"operations":[{"operationType":"forceReplace","record":{"recordType":"T","#
                            + #""recordName":"r\#(number)-\#(count)"}}]}"#)
                }
                done.signal()
            }
            return done
        }
        for saver in savers { saver.wait() }
        let calls = try calls(of: test)
        // Who commits, by what it does. Threads without work wait for some, too, but for seconds.
        let writers = Set(calls.filter { $0.contains("fdatasync(") }.compactMap { thread(of: $0) })
        #expect(!writers.isEmpty)
        var monotonic = 0
        for call in calls where writers.contains(thread(of: call) ?? "") {
            guard
                let wait = call.firstMatch(
                    of: #/^\d+ +(\d+)\.\d+ futex\(.*FUTEX_WAIT_BITSET.*\{tv_sec=(\d+)/#),
                let began = Int(wait.1), let until = Int(wait.2)
            else { continue }
            if call.contains("FUTEX_CLOCK_REALTIME") {
                #expect(until - began > 1, "\(call)")
            } else {
                monotonic += 1
            }
        }
        #expect(monotonic > 0, "no wait was seen")
    }

    private func thread(of call: Substring) -> Substring? { call.split(separator: " ").first }
}
