import CloudModel
import Delivery
import HTTP
import HTTPClient
import Storage
import Synchronization
import Testing

/// Takes requests in the place of a network, and answers each with what a test says.
final class Postman: Sendable {
    typealias Outcome = Result<OutgoingAnswer, ClientFailure>

    private let taken = Mutex<[OutgoingRequest]>([])
    private let answer: Mutex<Outcome>

    init(_ status: Int = 200) { answer = Mutex(Self.answer(status)) }

    static func answer(
        _ status: Int, _ fields: [(name: String, value: String)] = [], _ body: String = ""
    ) -> Outcome {
        .success(
            OutgoingAnswer(
                head: ResponseHead(
                    status: status, headers: HTTPHeaders(fields),
                    framing: .length(body.utf8.count), keepsAlive: true), body: Array(body.utf8)))
    }

    /// What comes of the requests from now on.
    func answers(_ outcome: Outcome) { answer.withLock { $0 = outcome } }

    var requests: [OutgoingRequest] { taken.withLock { $0 } }

    var send: SendRequest {
        { [self] request, then in
            taken.withLock { $0.append(request) }
            then(answer.withLock { $0 })
        }
    }

    /// A field of the last request.
    func field(_ name: String) -> String? {
        requests.last?.headers.first { $0.name.lowercased() == name }?.value
    }
}

/// Notices for one destination.
struct NoticeMaker {
    var container = "iCloud.example"
    var kind: DestinationKind
    var address: [UInt8]
    var seconds: Int64 = 1_700_000_000

    func notice(
        _ payload: String, identifier: String = "0b1f8c3e-7a57-4a34-9d54-0d9f1c0a7a11",
        collapseID: String? = nil, trace: String? = nil
    ) throws -> OutgoingNotice {
        let number = DestinationNumber(1)
        return OutgoingNotice(
            container: try #require(ContainerID(container)), environment: .development,
            destination: StoredDestination(
                number: number, kind: kind, key: [1], user: nil, device: nil, address: address,
                session: nil, madeAt: 0, usedAt: 0),
            notice: StoredNotice(
                number: NoticeNumber(7), destination: number, identifier: identifier,
                scope: .private, collapseID: collapseID, payload: Array(payload.utf8),
                madeAt: seconds * 1_000 - 5_000, trace: trace), now: seconds * 1_000)
    }

    /// Has a sender send it, and gives what it tells at once.
    func outcome(
        of sender: any NoticeSender, _ payload: String = "{}", collapseID: String? = nil,
        trace: String? = nil
    ) throws -> DeliveryOutcome? {
        let told = Mutex<DeliveryOutcome?>(nil)
        sender.send(try notice(payload, collapseID: collapseID, trace: trace)) { outcome in
            told.withLock { $0 = outcome }
        }
        return told.withLock { $0 }
    }
}
