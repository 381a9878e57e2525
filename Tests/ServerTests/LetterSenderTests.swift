import CloudModel
import Configuration
import Cryptography
import Testing

@testable import Server

@Suite("How letters leave")
struct LetterSenderTests {
    private func fails(_ change: (inout MailSettings) -> Void) -> String? {
        var settings = ServerConfiguration().mail
        settings.sender = .smtp
        settings.host = "127.0.0.1"
        settings.from = "sync@example.org"
        change(&settings)
        do {
            _ = try ServerSender(settings, clock: Clock { 0 }, random: .system)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("Settings of a mail server that do not go together stop the start, each by its name")
    func together() {
        #expect(fails { _ in } == nil)
        #expect(fails { $0.host = "" }?.hasPrefix("mail.host") == true)
        #expect(fails { $0.from = "é@example.org" }?.hasPrefix("mail.from") == true)
        #expect(fails { $0.user = "sync" }?.hasPrefix("mail.passwordFile") == true)
        #expect(
            fails {
                $0.user = "sync"
                $0.passwordFile = "/dev/null"
                $0.security = .none
            }?.hasPrefix("mail.security") == true)
        #expect(fails { $0.authoritiesFile = "/dev/null" }?.hasPrefix("mail.authorities") == true)
    }
}
