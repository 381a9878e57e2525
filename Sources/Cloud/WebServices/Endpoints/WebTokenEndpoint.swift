import Accounts
import CloudModel
import JSON
import RecordDecoding
import Storage

/// `/accounts/1/{container}/{environment}/web-token`: an app that lets people in by itself gets tokens for
/// them, by a key of scope `container`.
enum WebTokenEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let body = try context.body()
        let bearer = try bearer(body)
        let seconds = try body.integer("expires").map { Int(clamping: $0) }
        guard context.executor.mayWaitForCommits else { return .again(on: .commits) }
        do {
            let made = try context.authenticator.webTokens.mint(
                for: bearer, container: context.address.container,
                environment: context.address.environment, seconds: seconds,
                now: context.clock.now())
            completion(.success { _ in answer(made) })
            return .handedOn
        } catch AccountsRefusal.userUnknown {
            throw unknown
        } catch AccountsRefusal.lifetimeIllegal {
            throw Fault.badRequest(
                "expires: expected a number of seconds above 0 and up to "
                    + "tokens.webAuthStaySecondsMax")
        }
    }

    private static func bearer(_ body: RequestObject) throws -> WebTokens.Bearer {
        switch (try body.string("userRecordName"), try body.string("externalID")) {
        case (let name?, nil):
            guard let name = UserRecordName(name) else { throw unknown }
            return .known(name)
        case (nil, let externalID?):
            do {
                return .external(
                    try ExternalUser(
                        externalID: externalID, givenName: body.string("givenName"),
                        familyName: body.string("familyName"), email: body.string("emailAddress")))
            } catch let refusal as AccountsRefusal {
                throw Fault.badRequest("\(refusal)")
            }
        default:
            throw Fault.badRequest("expected either userRecordName or externalID")
        }
    }

    private static let unknown = Fault(.notFound, "the container knows no user of that name")

    private static func answer(_ made: WebTokens.Created) -> [UInt8] {
        var writer = JSONWriter(reserving: 240)
        writer.raw("{\"ckWebAuthToken\":")
        writer.string(made.token)
        writer.member("userRecordName", made.userRecordName.text)
        writer.member("expires", made.expiresAt)
        writer.raw("}")
        return writer.bytes
    }
}

extension WebTokenEndpoint {
    static let takes = ObjectShape(
        "WebTokenRequest", oneOf: ["externalID", "userRecordName"],
        [
            .beyond("externalID", .text(examples: ["u-17"])),
            .beyond("userRecordName", .userRecordName), .beyond("givenName", .text),
            .beyond("familyName", .text), .beyond("emailAddress", .emailAddress),
            .beyond("expires", .integer(least: 1, example: 600)),
        ])

    static let answers = ObjectShape(
        "WebToken",
        [
            .required("ckWebAuthToken", .text), .required("userRecordName", .userRecordName),
            .required("expires", .integer),
        ])
}
