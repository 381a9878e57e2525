import CloudModel
import Delivery
import JSON
import RecordDecoding
import Storage

/// A device or browser that a push service reaches, as `tokens/register` names it.
struct DeviceAddress: Sendable {
    let kind: DestinationKind
    /// What it is found by.
    let key: [UInt8]
    /// What its sender needs.
    let bytes: [UInt8]
    /// `apnsToken` of one that has it.
    let token: String?

    /// Reads `webPush`, or an `apnsToken` in hexadecimal digits with an `apnsTopic` beside where the
    /// container has several apps.
    ///
    /// - Returns: nil where the request names neither: then it means the courier.
    /// - Throws: `Fault` BAD_REQUEST that names the key.
    init?(_ body: RequestObject, _ environment: Environment) throws(Fault) {
        if let value = body.value["webPush"], !value.isNull {
            guard let address = WebPushAddress(value) else {
                throw Fault.badRequest(
                    "webPush: expected endpoint (a URL), p256dh and auth, as browsers give them")
            }
            if let obstacle = address.obstacle {
                throw Fault.badRequest("webPush: nothing is sent to this endpoint: \(obstacle)")
            }
            (kind, key, bytes, token) = (.webPush, address.key, address.bytes, nil)
            return
        }
        guard let text = try body.string("apnsToken"),
            let plain = ApplePushAddress(token: text, gateway: Self.gateway(environment))
        else { return nil }
        guard let topic = try body.string("apnsTopic") else {
            (kind, key, bytes, token) = (.apns, plain.key, plain.bytes, text)
            return
        }
        guard
            let address = ApplePushAddress(
                token: text, gateway: Self.gateway(environment), topic: topic)
        else { throw Fault.badRequest("apnsTopic: expected an app's bundle ID") }
        (kind, key, bytes, token) = (.apns, address.key, address.bytes, text)
    }

    private static func gateway(_ environment: Environment) -> ApplePushAddress.Gateway {
        switch environment {
        case .development: .development
        case .production: .production
        }
    }
}

extension DeviceAddress {
    static let keys: [ObjectKey] = [
        .optional("apnsToken", .text(examples: ["00112233445566778899aabbccddeeff"])),
        .beyond("apnsTopic", .text(examples: ["org.example.Notes"])),
        .beyond(
            "webPush",
            .object(
                ObjectShape(
                    "WebPushSubscription",
                    [
                        .required("endpoint", .text(examples: ["https://push.example/1"])),
                        .required("p256dh", .text), .required("auth", .text),
                    ]))),
    ]
}
