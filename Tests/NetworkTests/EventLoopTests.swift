import Network
import Synchronization
import Testing

@Suite("An event loop")
struct EventLoopTests {
    @Test("Work posted from many threads runs on the loop's thread, all of it, in order")
    func runsPostedWork() throws {
        let loop = try EventLoop(index: 0)
        try loop.start()
        let latch = Latch(count: 4000)
        let seen = Mutex<[Int: [Int]]>([:])
        let isElsewhere = Atomic(false)
        let threads = (0..<4).map { _ in Thread() }
        for (number, thread) in threads.enumerated() {
            try thread.start(name: "poster") {
                for item in 0..<1000 {
                    loop.post {
                        if !loop.isCurrent { isElsewhere.store(true, ordering: .relaxed) }
                        seen.withLock { $0[number, default: []].append(item) }
                        latch.countDown()
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        latch.wait()
        loop.stopAndJoin()
        let wasElsewhere = isElsewhere.load(ordering: .relaxed)
        #expect(!wasElsewhere)
        #expect(seen.withLock { $0.values.allSatisfy { $0 == Array(0..<1000) } })
    }

    @Test("Work posted by the loop itself runs without anything else waking it")
    func runsItsOwnWork() throws {
        let loop = try EventLoop(index: 0)
        try loop.start()
        let latch = Latch(count: 1)
        loop.post { loop.post { loop.post { latch.countDown() } } }
        latch.wait()
        loop.stopAndJoin()
    }
}

@Suite("A listen address")
struct ListenAddressTests {
    @Test(
        "Reads what it prints",
        arguments: ["127.0.0.1:8080", "[::1]:0", "localhost:65535", "unix:/run/a.sock"])
    func readsBack(text: String) {
        #expect(ListenAddress(text)?.description == text)
    }

    @Test(
        "Refuses what is none",
        arguments: [
            "", "8080", "host:", ":80", "host:65536", "host:+1", "host:-1", "::1:80", "unix:",
            "[]:80", "host:80 ",
        ])
    func refuses(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
