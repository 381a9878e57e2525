import Foundation
import Seeding
import Testing

/// Commands at work while their server is killed and started again.
@Suite("A server killed under commands")
struct KillWithCommandsTests {
    /// What the commands of one thread have done.
    private final class Operator: @unchecked Sendable {
        // Unchecked: its thread has it until it is joined, the test after that.
        private let number: Int
        private let data: String
        private var random: SeededRandom
        private(set) var there: Set<String> = []
        private(set) var unknown: Set<String> = []
        private(set) var gone: Set<String> = []

        init(number: Int, data: String) {
            self.number = number
            self.data = data
            random = SeededRandom(seed: TestSeed.value, stream: number)
        }

        /// Makes users and deletes some, through the server while there is one and without it else.
        func run(_ count: Int) throws {
            for index in 0..<count {
                let email = "user\(number)-\(index)@a.example"
                guard try isDone("user", "create", email) else {
                    unknown.insert(email)
                    continue
                }
                there.insert(email)
                guard random.once(in: 3), let victim = there.sorted().first else { continue }
                there.remove(victim)
                if try isDone("user", "delete", victim, "--yes") {
                    gone.insert(victim)
                } else {
                    unknown.insert(victim)
                }
            }
        }

        private func isDone(_ arguments: String...) throws -> Bool {
            try Program.run(arguments + ["--data", data]).status == 0
        }
    }

    /// Starts the server, as often as it takes.
    ///
    /// A command without a server holds the folder until it is done, which on a busy machine can be longer than
    /// a server waits for it.
    private static func start(_ data: String) throws -> ServerProcess {
        let end = DispatchTime.now() + .seconds(120)
        while true {
            do {
                return try ServerProcess(data: data)
            } catch let refusal as ServerProcess.DidNotStart {
                guard refusal.output.contains("another process holds"), DispatchTime.now() < end
                else { throw refusal }
            }
        }
    }

    @Test("What a command said to have done outlives every kill")
    func commands() async throws {
        print("kill test of commands: LENTICULAR_KILL_SEED=\(TestSeed.value)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try ServerProcess.makeData(data)
        try await BlockingThread.run {
            var random = SeededRandom(seed: TestSeed.value)
            let operators = (0..<2).map { Operator(number: $0, data: data) }
            let done = DispatchGroup()
            for one in operators {
                done.enter()
                Thread.detachNewThread {
                    do { try one.run(150) } catch { Issue.record(error) }
                    done.leave()
                }
            }
            while done.wait(timeout: .now()) == .timedOut {
                let began = DispatchTime.now().uptimeNanoseconds
                let server = try Self.start(data)
                let took = Int(DispatchTime.now().uptimeNanoseconds - began) / 1_000_000
                // A third live longer than it takes to start: so commands get on on a busy machine, too.
                let life = 20 + random.below(300) + (random.once(in: 3) ? 2 * took : 0)
                _ = done.wait(timeout: .now() + .milliseconds(life))
                server.signal(SIGKILL)
                #expect(server.wait() == -SIGKILL)
            }
            let list = try Program.run(["user", "list", "--json", "--data", data])
            let users = Set(list.object["email"] as? [String] ?? [])
            for one in operators {
                #expect(one.there.subtracting(users) == [], "lost")
                #expect(one.gone.intersection(users) == [], "back")
                #expect(one.there.count > 10)
            }
            let known = Set(operators.flatMap { $0.there.union($0.unknown) })
            #expect(users.subtracting(known) == [])
            let check = try Program.run(["check", "--json", "--data", data])
            #expect(check.object["ok"] as? Bool == true, "\(check)")
        }
    }
}
