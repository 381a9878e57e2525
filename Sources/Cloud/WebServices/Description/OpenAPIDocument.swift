import CloudModel
import JSON
import RecordDecoding

/// The description of every endpoint by OpenAPI 3.1, made of the table of routes and the shapes that it names.
struct OpenAPIDocument {
    private var line = JSONLine(reserving: 65_536)
    private var schemas: SchemaWriter

    private static let about = """
        CloudKit Web Services, and what this server adds (marked x-beyond-the-original). Unknown keys and parameters \
        are ignored, and null is the same as an absent key. A number may also come as the text of one. Limits are the \
        server's: a container may have lower ones.
        """

    static func make(
        _ limits: ServiceLimits, of server: InterfaceDescription.ServerFacts
    ) -> [UInt8] {
        var document = OpenAPIDocument(schemas: SchemaWriter(limits: limits))
        document.append(server)
        return document.line.bytes
    }

    private init(schemas: SchemaWriter) { self.schemas = schemas }

    private mutating func append(_ server: InterfaceDescription.ServerFacts) {
        line.beginObject()
        text("openapi", "3.1.0")
        line.key("info")
        line.beginObject()
        text("title", "Lenticular")
        text("version", server.version)
        text("description", Self.about)
        line.endObject()
        line.key("servers")
        line.beginArray()
        line.beginObject()
        text("url", server.baseURL)
        line.endObject()
        line.endArray()
        line.key("paths")
        line.beginObject()
        for operation in RouteTable.operations {
            if let route = RouteTable.routes[operation] { append(route) }
        }
        for path in Self.beside { append(path) }
        append(server.beside?.paths)
        line.endObject()
        line.key("components")
        line.beginObject()
        appendSecuritySchemes(and: server.beside?.securitySchemes)
        line.key("schemas")
        line.beginObject()
        schemas.definitions(to: &line)
        append(server.beside?.schemas)
        line.endObject()
        line.endObject()
        line.endObject()
    }

    // MARK: - Endpoints

    private mutating func append(_ route: Route) {
        let address = DescribedAddress(of: route)
        line.key(address.path)
        line.beginObject()
        line.key("parameters")
        line.beginArray()
        for parameter in address.parameters { append(parameter) }
        line.endArray()
        if route.needsNoBody { append(route, method: "get", takes: nil) }
        append(route, method: "post", takes: route.takes)
        line.endObject()
    }

    private mutating func append(_ route: Route, method: String, takes: ObjectShape?) {
        line.key(method)
        line.beginObject()
        let name = route.operation.split(separator: "/").joined(separator: "-")
        text("operationId", method == "get" ? "\(name)-get" : name)
        appendSecurity(for: route.audience)
        if let takes {
            line.key("requestBody")
            line.beginObject()
            line.key("required")
            line.flag(!route.needsNoBody)
            appendContent(takes)
            line.endObject()
        }
        line.key("responses")
        line.beginObject()
        line.key("200")
        appendAnswer("what was asked for", route.answers)
        // What HTTP itself refuses has a status of its own.
        for status in Set(FaultCode.allCases.map(\.httpStatus) + [405]).sorted() {
            line.key("\(status)")
            appendAnswer("a fault", AnswerShapes.fault)
        }
        line.endObject()
        line.endObject()
    }

    private mutating func appendAnswer(_ description: String, _ shape: ObjectShape) {
        line.beginObject()
        text("description", description)
        appendContent(shape)
        line.endObject()
    }

    private mutating func appendContent(_ shape: ObjectShape) {
        line.key("content")
        line.beginObject()
        line.key("application/json")
        line.beginObject()
        line.key("schema")
        schemas.reference(shape, to: &line)
        line.endObject()
        line.endObject()
    }

    private mutating func append(_ parameter: DescribedAddress.Parameter) {
        line.beginObject()
        text("name", parameter.name)
        text("in", parameter.isInPath ? "path" : "query")
        line.key("required")
        line.flag(parameter.isInPath)
        line.key("schema")
        schemas.value(parameter.value, to: &line)
        line.endObject()
    }

    // MARK: - Credentials

    private static let signature = [
        ("keyID", "X-Apple-CloudKit-Request-KeyID"),
        ("date", "X-Apple-CloudKit-Request-ISO8601Date"),
        ("signature", "X-Apple-CloudKit-Request-SignatureV1"),
    ]

    private mutating func appendSecuritySchemes(and further: [InterfacePart.Member]?) {
        line.key("securitySchemes")
        line.beginObject()
        for (name, parameter) in [("apiToken", "ckAPIToken"), ("webToken", "ckWebAuthToken")] {
            appendScheme(name, in: "query", parameter)
        }
        for (name, header) in Self.signature { appendScheme(name, in: "header", header) }
        append(further)
        line.endObject()
    }

    private mutating func append(_ members: [InterfacePart.Member]?) {
        for member in members ?? [] {
            line.key(member.name)
            line.encoded(member.json)
        }
    }

    private mutating func appendScheme(_ name: String, in location: String, _ parameter: String) {
        line.key(name)
        line.beginObject()
        text("type", "apiKey")
        text("in", location)
        text("name", parameter)
        line.endObject()
    }

    /// Which credentials together let somebody in; each list is one way.
    private mutating func appendSecurity(for audience: Audience) {
        let (user, key) = (["apiToken", "webToken"], Self.signature.map(\.0))
        let ways: [[String]] =
            switch audience {
            case .world: [["apiToken"], user, key]
            case .users, .anyIdentity: [user, key]
            case .persons: [user]
            case .containerKeys: [key]
            }
        line.key("security")
        line.beginArray()
        for way in ways {
            line.beginObject()
            for scheme in way {
                line.key(scheme)
                line.beginArray()
                line.endArray()
            }
            line.endObject()
        }
        line.endArray()
    }

    // MARK: - Beside the protocol

    private static let beside = ["/capabilities", "/healthz", "/openapi.json", "/readyz"]

    private mutating func append(_ path: String) {
        line.key(path)
        line.beginObject()
        line.key("get")
        line.beginObject()
        text("operationId", String(path.dropFirst()))
        line.key("security")
        line.beginArray()
        line.endArray()
        line.key("responses")
        line.beginObject()
        for status in path == "/readyz" ? ["200", "503"] : ["200"] {
            line.key(status)
            line.beginObject()
            text("description", status == "200" ? "as its name says" : "not now")
            line.endObject()
        }
        line.endObject()
        line.endObject()
        line.endObject()
    }

    private mutating func text(_ key: StaticString, _ text: String) {
        line.key(key)
        line.text(text)
    }
}

/// Where an endpoint is, with its parameters.
private struct DescribedAddress {
    struct Parameter {
        let name: String
        let isInPath: Bool
        let value: ValueShape
    }

    let path: String
    let parameters: [Parameter]

    init(of route: Route) {
        let operation = route.operation
        var parameters = [
            Parameter(
                name: "container", isInPath: true,
                value: .text(examples: ["iCloud.org.example.Notes"])),
            Parameter(name: "environment", isInPath: true, value: .words(Environment.self)),
        ]
        let below = "1/{container}/{environment}"
        switch operation.prefix(while: { $0 != "/" }) {
        case "accounts": path = "/accounts/\(below)/\(operation.dropFirst("accounts/".count))"
        case "tokens": path = "/device/\(below)/\(operation)"
        case "users": path = "/database/\(below)/public/\(operation)"
        default:
            path = "/database/\(below)/{database}/\(operation)"
            parameters.append(
                Parameter(name: "database", isInPath: true, value: .words(DatabaseScope.self)))
        }
        var asked: [(String, ValueShape)] = [("clientId", .text(examples: ["phone"]))]
        if operation == "records/modify" { asked.append(("writeId", .text(bytesMax: 64))) }
        if operation == "records/query" { asked.append(("getCurrentSyncToken", .flag)) }
        if route.audience == .users { asked.append(("ckOnBehalfOf", .userRecordName)) }
        self.parameters =
            parameters + asked.map { Parameter(name: $0.0, isInPath: false, value: $0.1) }
    }
}
