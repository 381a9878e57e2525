import Accounts
import Foundation
import Storage
import Testing

@testable import Pages

@Suite("Phone numbers on the pages")
struct PhonePageTests {
    private let server: PageServer
    private let browser: Browser

    init() throws {
        server = try PageServer(letterKinds: [.email, .phone])
        browser = Browser(server)
    }

    private func message() throws -> (address: String, text: LetterText) {
        try #require(try server.letters().first)
    }

    private func path(in text: LetterText) throws -> String {
        let link = try #require(text.body.range(of: "https://sync.example"))
        return String(text.body[link.upperBound...].prefix { !$0.isWhitespace })
    }

    private func makeAccount(_ number: String = "+49 171 234-5678") throws {
        try browser.get("/sign-in/new")
        let asked = try browser.post("/sign-in/new", ["address": number])
        #expect(asked.status == 200 && asked.text.contains("Check your messages"))
        let message = try message()
        #expect(message.address == number && message.text.body.utf8.count < 160)
        let welcome = try path(in: message.text)
        try browser.get(welcome)
        let done = try browser.post(welcome, ["given": "Noor", "password": "correct horse"])
        #expect(done.header("Location") == "/account")
    }

    @Test(
        "Somebody makes an account by their phone number and signs in by it, however it is written")
    func account() throws {
        try makeAccount()
        #expect(try browser.get("/account").text.contains("+49 171 234-5678"))
        for number in ["+491712345678", "+49 (171) 2345678", "+49-171-234.5678"] {
            let other = Browser(server)
            let page = try other.get("/sign-in")
            #expect(page.text.contains("E-mail address or phone number"))
            #expect(try other.signIn("/sign-in", number).header("Location") == "/account")
        }
        for number in ["01712345678", "+491712345679", "+49171234567"] {
            let other = Browser(server)
            try other.get("/sign-in")
            #expect(try other.signIn("/sign-in", number).status == 403, "\(number)")
        }
    }

    @Test("Its password is replaced, changed and shown again as one by e-mail is")
    func password() throws {
        try makeAccount()
        _ = try server.letters()
        try browser.get("/account")
        let changed = try browser.post(
            "/account",
            ["do": "password", "present": "correct horse", "password": "battery staple"])
        #expect(changed.text.contains("Password changed"))
        server.clock.advance(660_000)
        try browser.get("/account/prove?to=delete")
        let proved = try browser.post("/account/prove?to=delete", ["present": "battery staple"])
        #expect(proved.header("Location") == "/account/delete")
        try browser.get("/sign-in/forgotten")
        try browser.post("/sign-in/forgotten", ["address": "+491712345678"])
        let reset = try path(in: message().text)
        try browser.get(reset)
        #expect(
            try browser.post(reset, ["password": "third horse"]).header("Location") == "/account")
    }

    @Test(
        "A number is somebody's once the code of a message is typed, and signs them in from then on"
    )
    func proving() throws {
        try server.user()
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
        _ = try server.letters()
        try browser.get("/account")
        let asked = try browser.post(
            "/account", ["do": "add-address", "address": "+1 555 010 0199"])
        #expect(asked.text.contains("Verification code (+1 555 010 0199)"))
        let stranger = Browser(server)
        try stranger.get("/sign-in")
        let refused = try stranger.signIn("/sign-in", "+15550100199")
        #expect(refused.status == 403)
        #expect(refused.text.contains("Incorrect e-mail, phone number or password."))
        let text = try message().text.body
        let code = try #require(text.firstMatch(of: #/[0-9]{4} [0-9]{4}/#)).output
        let wrong = try browser.post(
            "/account",
            ["do": "prove-address", "address": "+1 555 010 0199", "code": "00000000"])
        #expect(wrong.status == 422)
        let right = try browser.post(
            "/account",
            ["do": "prove-address", "address": "+1 555 010 0199", "code": String(code)])
        #expect(right.text.contains("Address verified."))
        let other = Browser(server)
        try other.get("/sign-in")
        #expect(try other.signIn("/sign-in", "+15550100199").header("Location") == "/account")
        // The account is still known by its e-mail address, to which news of browsers go.
        let news = try server.letters().map(\.address)
        #expect(news == ["ida@example.org"])
    }

    @Test(
        "What has no country's code, or is no number, is refused with what was expected",
        arguments: ["0171 2345678", "+0171 2345678", "+49", "+49 171 x", "1234567890123456", "a@"])
    func refused(_ number: String) throws {
        try browser.get("/sign-in/new")
        let answer = try browser.post("/sign-in/new", ["address": number])
        #expect(answer.status == 422 && answer.text.contains("its country code"), "\(number)")
        #expect(try server.letters().isEmpty)
    }

    @Test(
        "Where no text messages are sent, a number is no address; where no mail, a letter is none")
    func kinds() throws {
        for (kinds, good, bad) in [
            ([.email], "a@example.org", "+15550100199"),
            ([.phone], "+15550100199", "a@example.org"),
        ] as [(Set<Address.Kind>, String, String)] {
            let visitor = Browser(try PageServer(letterKinds: kinds))
            try visitor.get("/sign-in/new")
            #expect(try visitor.post("/sign-in/new", ["address": bad]).status == 422)
            #expect(try visitor.post("/sign-in/new", ["address": good]).status == 200)
        }
    }

    @Test(
        "Text messages of an hour have a budget, whoever asks; letters go on, and so does the next hour"
    )
    func budget() throws {
        let server = try PageServer(letterKinds: [.email, .phone]) {
            $0.textMessagesPerHourMax = 3
        }
        func ask(_ address: String, _ number: Int) throws -> Shown {
            let visitor = Browser(server)
            visitor.client = "192.0.2.\(number)"
            try visitor.get("/sign-in/forgotten")
            return try visitor.post("/sign-in/forgotten", ["address": address])
        }
        for number in 0..<3 { #expect(try ask("+1555010019\(number)", number).status == 200) }
        let refused = try ask("+15550100195", 5)
        #expect(refused.status == 429)
        let wait = try #require(refused.header("Retry-After").flatMap { Int64($0) })
        #expect((1...3_600).contains(wait))
        #expect(try ask("a@example.org", 6).status == 200)
        server.clock.advance(wait * 1_000)
        #expect(try ask("+15550100196", 7).status == 200)
    }

    @Test("Of two processes each sends half of an hour's text messages")
    func budgetOfProcesses() throws {
        let server = try PageServer(letterKinds: [.phone], processCount: 2) {
            $0.textMessagesPerHourMax = 5
        }
        let answers = try (0..<3).map { number in
            let visitor = Browser(server)
            visitor.client = "192.0.2.\(number)"
            try visitor.get("/sign-in/forgotten")
            return try visitor.post("/sign-in/forgotten", ["address": "+1555010019\(number)"])
                .status
        }
        #expect(answers == [200, 200, 429])
    }

    @Test("News of a browser that was not known goes to the phone of who has no e-mail address")
    func news() throws {
        try makeAccount()
        let other = Browser(server)
        try other.get("/sign-in")
        try other.signIn("/sign-in", "+491712345678")
        let message = try message()
        #expect(message.address == "+49 171 234-5678")
        #expect(message.text.body.contains("on a new device"))
    }
}
