import Accounts
import CloudDatabase
import CloudModel
import Cryptography
import JSON
import RecordDecoding
import Storage

/// `tokens/create` (web-services.md §4.16): makes a courier, and says where it is polled.
enum CreateTokenEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let asked = try TokenRequest(context)
        let token = context.courierToken()
        asked.registration(
            .courier, key: CourierAddress.key(of: token), address: []
        ).run { result in
            completion(result.map { _ in { _ in asked.answer(token) } })
        }
        return .handedOn
    }
}

/// `tokens/register` (web-services.md §4.16): goes on with a courier, for this user and device.
///
/// A token that has ended is replaced by a new one, which the answer names: clients read it there.
enum RegisterTokenEndpoint {
    /// What waits for such a device would wait for ever.
    private static let unreached = Fault.badRequest(
        "apnsToken: this server does not push to Apple's devices")

    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let asked = try TokenRequest(context)
        if let device = try DeviceAddress(context.body(), asked.environment) {
            guard context.reaches(device.kind) else { throw Self.unreached }
            asked.registration(device).run { result in
                completion(result.map { _ in { _ in asked.answer(device) } })
            }
            return .handedOn
        }
        let text = try context.body().requiredString("apnsToken")
        guard let given = Base64.decode(Array(text.utf8)), given.count == CourierTokens.bytes
        else {
            throw Fault.badRequest(
                "apnsToken: expected a token of tokens/create, or a device's in hexadecimal digits")
        }
        let fresh = context.courierToken()
        asked.registration(
            .courier, key: CourierAddress.key(of: given), address: [],
            orElse: CourierAddress.key(of: fresh)
        ).run { result in
            completion(
                result.map { isKnown in { _ in asked.answer(isKnown ? given : fresh) } })
        }
        return .handedOn
    }
}

/// What both endpoints are asked, and how they answer.
struct TokenRequest: Sendable {
    private let context: RequestContext
    private let user: UserRecordName
    /// As the client spells it.
    private let apnsEnvironment: String
    private let device: String?
    /// Which the client means by it.
    let environment: Environment

    init(_ context: RequestContext) throws {
        guard let user = context.caller.userRecordName else {
            throw Fault(.authenticationRequired, "request needs authorization")
        }
        let body = try context.body()
        let name = try body.requiredString("apnsEnvironment")
        guard let environment = Environment(rawValue: name.lowercased()) else {
            throw Fault.badRequest("apnsEnvironment: expected development or production")
        }
        self.environment = environment
        self.context = context
        self.user = user
        apnsEnvironment = name
        device = try body.string("clientId").flatMap(DeviceName.read) ?? context.namedDevice
    }

    func registration(
        _ kind: DestinationKind, key: [UInt8], address: [UInt8], orElse other: [UInt8]? = nil
    ) -> RegisterDestination {
        RegisterDestination(
            NewDestination(
                kind: kind, key: key, user: user, device: device, address: address,
                session: context.identified.session),
            orElse: other,
            sessions: DestinationSessions(catalog: context.catalog, clock: context.clock),
            destinationsMax: context.limits.destinationsPerUserMax, caller: context.caller,
            storage: context.store.storage)
    }

    func registration(_ address: DeviceAddress) -> RegisterDestination {
        registration(address.kind, key: address.key, address: address.bytes)
    }

    /// As the client sent it.
    func answer(_ address: DeviceAddress) -> [UInt8] {
        var writer = JSONWriter(reserving: 320)
        writer.raw("{\"apnsEnvironment\":")
        writer.string(apnsEnvironment)
        if let token = address.token {
            writer.member("apnsToken", token)
        }
        writer.raw("}")
        return writer.bytes
    }

    func answer(_ token: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: 320)
        writer.raw("{\"apnsEnvironment\":")
        writer.string(apnsEnvironment)
        writer.member("apnsToken", Base64.encode(token))
        writer.raw(",\"webcourierURL\":")
        writer.string(
            CourierAddress.url(
                context.address.container, context.address.environment, token: token,
                below: context.courierBaseURL))
        writer.raw("}")
        return writer.bytes
    }
}

extension RequestContext {
    /// Another token at each call.
    fileprivate func courierToken() -> [UInt8] {
        authenticator.courierTokens.make(
            in: address.container, address.environment, random: random)
    }
}

extension TokenRequest {
    private static let keys: [ObjectKey] = [
        .required("apnsEnvironment", .text(examples: ["development"])),
        .optional("clientId", .text(examples: ["phone"], bytesMax: 255)),
    ]

    static let takes = ObjectShape("CreateTokenRequest", keys)
    static let takesAddress = ObjectShape("RegisterTokenRequest", keys + DeviceAddress.keys)

    static let answers = ObjectShape(
        "NotificationToken",
        [
            .required("apnsEnvironment", .text), .optional("apnsToken", .text),
            .optional("webcourierURL", .text),
        ])
}
