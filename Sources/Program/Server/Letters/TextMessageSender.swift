import Accounts
import CloudModel
import Configuration
import Control
import Cryptography
import Delivery
import Files
import HTTPClient
import JSON
import Storage
import Synchronization

/// Posts text messages to a gateway, which passes them to a provider.
final class TextMessageSender: LetterSender {
    /// Why a message is still here.
    enum Failure: Error, Equatable, CustomStringConvertible {
        case notTaken(String)

        var description: String {
            switch self {
            case .notTaken(let reason): "the text message's webhook: \(reason)"
            }
        }
    }

    private static let keyBytesMin = 24
    private static let keyFileBytesMax = 4_096
    private static let keyPrefix = "whsec_"
    /// Text messages wait for each other: not long for a provider that is silent.
    private static let millisecondsMax = 10_000
    /// Longer than any request may take: nobody waits for ever.
    private static let secondsMax = 30

    private let url: TargetURL
    private let key: [UInt8]?
    private let traffic: OutgoingTraffic
    private let clock: Clock
    private let random: RandomSource
    private let isStopping = Atomic(false)

    /// Starts the threads that post, which `stop` has to end.
    ///
    /// - Throws: `CommandFailure` for settings that do not go together, or a file that cannot be used.
    init(
        _ configuration: ServerConfiguration, clock: Clock, random: RandomSource
    ) throws {
        let settings = configuration.textMessages
        guard let url = TargetURL(settings.url) else {
            throw CommandFailure(
                "textMessages.url: expected a URL for textMessages.sender \"webhook\"")
        }
        self.url = url
        key = try Self.key(settings.keyFile)
        traffic = try OutgoingTraffic(configuration)
        self.clock = clock
        self.random = random
    }

    /// Ends it; a message that is on its way fails.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        traffic.stop()
    }

    func reaches(_ kind: Address.Kind) -> Bool { kind == .phone }

    /// Each try is signed as the same message.
    func send(_ text: LetterText, to address: Address) throws {
        guard !isStopping.load(ordering: .relaxed) else {
            throw Failure.notTaken("the server stops")
        }
        var body = JSONWriter(reserving: 512)
        body.raw("{\"to\":")
        body.string(address.folded)
        body.raw(",\"text\":")
        body.string(text.body)
        body.raw("}")
        let signature = key.map { key in
            WebhookSignature.headers(
                identifier: text.identifier ?? UniqueID.random(random),
                seconds: clock.now() / 1_000, body: body.bytes, keys: [key])
        }
        guard let signature = signature ?? [] else {
            throw Failure.notTaken("the message cannot be signed")
        }
        let headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"),
            ("User-Agent", "lenticular/\(ProgramVersion.text)"),
        ]
        let answer: OutgoingAnswer
        do {
            answer = try traffic.requests.answer(
                to: OutgoingRequest(
                    method: "POST", url: url, namedBy: .operators, headers: headers + signature,
                    body: body.bytes, millisecondsMax: Self.millisecondsMax, isRepeatable: false),
                withinSeconds: Self.secondsMax)
        } catch { throw Failure.notTaken("\(error)") }
        guard (200..<300).contains(answer.status) else {
            throw Failure.notTaken("answered with \(answer.status)")
        }
    }

    private static func key(_ file: String) throws -> [UInt8]? {
        guard !file.isEmpty else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.contents(of: file, bytesMax: keyFileBytesMax)
        } catch {
            throw CommandFailure("textMessages.keyFile: \(error)")
        }
        let line = String(decoding: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard line.hasPrefix(keyPrefix),
            let key = Base64.decode(Array(line.dropFirst(keyPrefix.count).utf8)),
            key.count >= keyBytesMin
        else {
            throw CommandFailure(
                "textMessages.keyFile: expected \(keyPrefix) and at least \(keyBytesMin) bytes in base64 in "
                    + "the first line of \(file)")
        }
        return key
    }
}
