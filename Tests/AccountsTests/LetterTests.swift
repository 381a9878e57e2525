import Accounts
import Background
import CloudModel
import Cryptography
import Dispatch
import Foundation
import SQLiteStorage
import Storage
import Synchronization
import Testing

@Suite("Letters and the secrets in them")
struct LetterTests {
    let test: TestAccounts
    let ida: AccountRecord

    init() throws {
        test = try TestAccounts()
        ida = try test.user("ida@example.org")
    }

    private var now: Milliseconds { test.server.now }

    private func ask(
        _ purpose: Letter.Purpose, _ address: String, of account: AccountID? = nil,
        by origin: NetworkOrigin = "here"
    ) throws -> Letters.Outcome {
        try test.accountUseCases.letters.ask(
            for: purpose, to: try AddressFormat.email(address), of: account, from: origin, now: now)
    }

    private func secret() throws -> String {
        switch try #require(try test.sent().first).contents {
        case .reset(let secret), .invitation(let secret), .code(let secret): return secret
        default: return ""
        }
    }

    /// Runs 64 at once; how many succeed.
    private func race(_ body: @escaping @Sendable () throws -> Bool) -> Int {
        let count = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            if (try? body()) == true { count.add(1, ordering: .relaxed) }
        }
        return count.load(ordering: .relaxed)
    }

    @Test("A link to a new password goes to who has an account; for others the same is queued")
    func reset() throws {
        #expect(try ask(.reset, "no@example.org") == .queued)
        #expect(try test.catalog.dueLetters(to: .email, now: now, countMax: 9).count == 1)
        #expect(try test.sent().isEmpty)
        #expect(try ask(.reset, "ida@example.org") == .queued)
        let secret = try secret()
        let answers = test.accountUseCases.letterAnswers
        #expect(try answers.link(of: secret, .reset, now: now)?.address.text == "ida@example.org")
        #expect(try answers.link(of: secret, .invitation, now: now) == nil)
        #expect(throws: AccountsRefusal.passwordIllegal) {
            try answers.reset(secret, password: Array("short".utf8), now: now)
        }
        let session = try test.accountUseCases.sessions.begin(
            for: ida, device: "", isKept: true, now: now)
        #expect(
            try answers.reset(secret, password: Array("battery staple".utf8), now: now)?.id
                == ida.id)
        #expect(try answers.reset(secret, password: Array("another one".utf8), now: now) == nil)
        #expect(try test.accountUseCases.sessions.find(session.cookie, now: now) == nil)
        #expect(try test.signIn("ida@example.org", "another one") == .wrong)
        // A link ends with its hour.
        _ = try ask(.reset, "ida@example.org")
        let late = try self.secret()
        #expect(
            try answers.reset(late, password: Array("battery staple".utf8), now: now + 3_600_000)
                == nil)
        #expect(try CatalogCheck(path: test.server.catalog.path).problems().isEmpty)
    }

    @Test("A used link ends all others of the address")
    func severalLinks() throws {
        _ = try ask(.reset, "ida@example.org")
        let first = try secret()
        _ = try ask(.reset, "ida@example.org")
        let second = try secret()
        let answers = test.accountUseCases.letterAnswers
        #expect(try answers.reset(second, password: Array("password 2".utf8), now: now) != nil)
        #expect(try answers.reset(first, password: Array("password 1".utf8), now: now) == nil)
    }

    @Test("Of 64 who use one reset link at once, one sets the password")
    func resetRace() throws {
        _ = try ask(.reset, "ida@example.org")
        let (secret, answers, now) = (try secret(), test.accountUseCases.letterAnswers, now)
        #expect(
            race { try answers.reset(secret, password: Array("password".utf8), now: now) != nil }
                == 1)
    }

    @Test("An invitation makes one account, whose address is verified; 64 at once make one")
    func invitation() throws {
        _ = try ask(.invitation, "noor@example.org")
        let (secret, answers, now) = (try secret(), test.accountUseCases.letterAnswers, now)
        #expect(throws: AccountsRefusal.nameIllegal) {
            try answers.signUp(
                secret, givenName: "a\u{0}", familyName: nil, password: Array("password".utf8),
                now: now)
        }
        #expect(
            race {
                try answers.signUp(
                    secret, givenName: "Noor", familyName: nil, password: Array("password".utf8),
                    now: now) != nil
            } == 1)
        let noor = try Users(catalog: test.catalog).find(email: "noor@example.org")
        #expect(noor.givenName == "Noor")
        #expect(try answers.link(of: secret, .invitation, now: now) == nil)
        // Who has an account is told so, where nobody else sees it.
        _ = try ask(.invitation, "noor@example.org")
        #expect(try test.sent().map(\.contents) == [.accountExists(returnPath: nil)])
        #expect(try CatalogCheck(path: test.server.catalog.path).problems().isEmpty)
    }

    @Test("An invitation that comes to nothing is still good")
    func invitationRefused() throws {
        _ = try ask(.invitation, "noor@example.org")
        let (secret, answers, now) = (try secret(), test.accountUseCases.letterAnswers, now)
        func signUp() throws -> AccountRecord? {
            try answers.signUp(
                secret, givenName: nil, familyName: nil, password: Array("password".utf8), now: now)
        }
        // Meanwhile the address is another's.
        let users = Users(catalog: test.catalog)
        _ = try users.verify(email: "ida@example.org", address: "noor@example.org", now: now)
        #expect(throws: CatalogRefusal.addressTaken) { try signUp() }
        #expect(try answers.link(of: secret, .invitation, now: now) != nil)
        _ = try test.catalog.delete(ida.id)
        #expect(try signUp()?.email == "noor@example.org")
        #expect(try signUp() == nil)
    }

    @Test("A code makes an address the account's own, once, in five tries")
    func code() throws {
        let (answers, now, id) = (test.accountUseCases.letterAnswers, now, ida.id)
        let work = try AddressFormat.email("ida@work.example")
        func newCode() throws -> String {
            _ = try ask(.address, work.text, of: id)
            return try secret()
        }
        var code = try newCode()
        #expect(code.count == 8 && code.allSatisfy(\.isNumber))
        for _ in 0..<5 {
            #expect(try answers.prove(work, of: id, code: "x", now: now) == .wrong)
        }
        #expect(try answers.prove(work, of: id, code: code, now: now) == CodeOutcome.none)
        code = try newCode()
        #expect(
            try answers.prove(work, of: id, code: code, now: now + 900_000) == CodeOutcome.none)
        code = try newCode()
        let mo = try test.user("mo@example.org")
        #expect(try answers.prove(work, of: mo.id, code: code, now: now) == CodeOutcome.none)
        #expect(try test.catalog.account(verified: work) == nil)
        let spaced = code.prefix(4) + " " + code.suffix(4)
        #expect(
            race { try answers.prove(work, of: id, code: String(spaced), now: now) == .right } == 1)
        #expect(try test.catalog.account(verified: work)?.id == id)
        // Proved by another later, it stays where it is.
        _ = try ask(.address, work.text, of: mo.id, by: "mo")
        let others = try secret()
        #expect(throws: CatalogRefusal.addressTaken) {
            try answers.prove(work, of: mo.id, code: others, now: now)
        }
    }

    @Test("64 guesses at a code at once are five tries")
    func codeRace() throws {
        let (answers, now, id) = (test.accountUseCases.letterAnswers, now, ida.id)
        let work = try AddressFormat.email("ida@work.example")
        _ = try ask(.address, work.text, of: id)
        let code = try secret()
        #expect(race { try answers.prove(work, of: id, code: "00", now: now) == .wrong } == 5)
        #expect(try answers.prove(work, of: id, code: code, now: now) == CodeOutcome.none)
    }

    @Test("Who asks for many letters waits, and so does the address")
    func limits() throws {
        for number in 0..<5 { #expect(try ask(.reset, "a\(number)@example.org") == .queued) }
        #expect(try ask(.reset, "b@example.org") == .wait(seconds: 1))
        for number in 0..<5 {
            #expect(
                try ask(.address, "d\(number)@example.org", of: ida.id, by: "\(number)") == .queued)
        }
        #expect(try ask(.address, "e@example.org", of: ida.id, by: "y") == .wait(seconds: 1))
        for number in 0..<5 {
            #expect(try ask(.reset, "c@example.org", by: "\(number)") == .queued)
        }
        #expect(try ask(.reset, "C@example.org", by: "x") == .wait(seconds: 1))
    }

    @Test("Letters that strangers ask for do not fill the catalog")
    func full() throws {
        let test = try TestAccounts { $0.lettersWaitingMax = 12 }
        func ask(_ number: Int) throws -> Letters.Outcome {
            try test.accountUseCases.letters.ask(
                for: .reset, to: try AddressFormat.email("a\(number)@example.org"),
                from: "\(number)", now: test.server.now)
        }
        for number in 0..<3 { #expect(try ask(number) == .queued) }
        #expect(try ask(3) == .wait(seconds: 60))
        _ = try test.sent()
        #expect(try ask(4) == .queued)
    }

    @Test("Each kind of letter has a share of the queue, and the others go on when it is full")
    func shares() throws {
        let test = try TestAccounts { $0.lettersWaitingMax = 16 }
        let mo = try test.user("mo@example.org")
        func ask(_ purpose: Letter.Purpose, _ number: Int) throws -> Letters.Outcome {
            try test.accountUseCases.letters.ask(
                for: purpose, to: try AddressFormat.email("\(purpose)\(number)@example.org"),
                of: purpose == .address ? mo.id : nil, from: "\(purpose)\(number)",
                now: test.server.now)
        }
        for full in [Letter.Purpose.reset, .invitation, .address] {
            for number in 0..<4 { #expect(try ask(full, number) == .queued, "\(full)") }
            #expect(try ask(full, 4) == .wait(seconds: 60), "\(full)")
        }
        #expect(try test.waiting().count == 12)
    }

    @Test("News of new browsers is told so often, and takes the place of no other letter")
    func news() throws {
        let test = try TestAccounts { $0.lettersWaitingMax = 16 }
        let address = try AddressFormat.email("mo@example.org")
        let mo = try test.user(address.text)
        func sign(in number: Int, _ account: AccountID, _ address: Address) throws {
            try test.accountUseCases.letters.tell(
                of: "browser \(number)", to: address, of: account, language: "",
                now: test.server.now)
        }
        for number in 0..<4 { try sign(in: number, mo.id, address) }
        #expect(try test.waiting().count { $0.purpose == .device } == 4)
        // Nobody else's has room beside them.
        let jo = try AddressFormat.email("jo@example.org")
        let other = try test.user(jo.text)
        for number in 0..<1_000 { try sign(in: number, other.id, jo) }
        #expect(try test.waiting().count { $0.purpose == .device } == 4)
        _ = try test.sent()
        // The fifth of the five that come without waiting; then the account waits, whichever its address.
        for number in 0..<10 {
            try sign(in: number, mo.id, AddressFormat.email("mo\(number)@example.org"))
        }
        #expect(try test.waiting().count { $0.purpose == .device } == 1)
        // Its owner still gets a link to a new password.
        let reset = try test.accountUseCases.letters.ask(
            for: .reset, to: address, from: "there", now: test.server.now)
        #expect(reset == .queued)
    }

    @Test("A letter that cannot be sent is tried again, later each time, and given up after a day")
    func retries() throws {
        let sender = StubSender()
        let round = LetterRound(
            catalog: test.catalog, letters: test.accountUseCases.letters, sender: sender,
            backoff: Backoff(first: 60_000, longest: 3_600_000) { .max },
            compose: { contents, _ in LetterText(subject: "s", body: "\(contents)") })
        _ = try ask(.reset, "ida@example.org")
        sender.fails = true
        #expect(try round.run(to: .email, now: now).failures.count == 1)
        #expect(try round.run(to: .email, now: now + 59_999) == LetterRound.Outcome())
        #expect(try round.run(to: .email, now: now + 60_000).failures.count == 1)
        #expect(try round.run(to: .email, now: now + 179_999) == LetterRound.Outcome())
        sender.fails = false
        #expect(try round.run(to: .email, now: now + 180_000).sent == 1)
        #expect(sender.sent.count == 1 && sender.sent[0].contains("reset"))
        // One letter, whoever gets it more than once.
        #expect(Set(sender.tried.map(\.body)) == Set(sender.sent))
        let identifiers = Set(sender.tried.map(\.identifier))
        #expect(identifiers.count == 1 && identifiers.first??.count == 32)
        #expect(try round.run(to: .email, now: now + 999_000) == LetterRound.Outcome())
        _ = try ask(.invitation, "new@example.org")
        #expect(try round.run(to: .email, now: now + 999_000).sent == 1)
        #expect(try #require(sender.tried.last).identifier != identifiers.first)
        _ = try ask(.reset, "ida@example.org")
        #expect(try round.run(to: .email, now: now + 86_400_000).givenUp == 1)
        #expect(try test.waiting().isEmpty)
    }

    @Test("No secret waits in the catalog: what is queued and kept holds none of them")
    func nothingKept() throws {
        _ = try ask(.reset, "ida@example.org")
        let secret = try secret()
        let session = try test.accountUseCases.sessions.begin(
            for: ida, device: "", isKept: true, now: now)
        try test.server.catalog.checkpoint()
        let bytes = try Data(contentsOf: URL(filePath: test.server.catalog.path))
        for text in [secret, session.cookie] {
            #expect(bytes.range(of: Data(text.utf8)) == nil)
        }
    }
}

/// Keeps what it is to send, or fails.
final class StubSender: LetterSender, @unchecked Sendable {
    // Unchecked: one test uses it from one thread.
    var fails = false
    var sent: [String] = []
    /// All that it was to send.
    var tried: [LetterText] = []

    func reaches(_ kind: Address.Kind) -> Bool { kind == .email }

    func send(_ text: LetterText, to address: Address) throws {
        tried.append(text)
        guard !fails else { throw CancellationError() }
        sent.append(text.body)
    }
}
