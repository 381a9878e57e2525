import Configuration
import JSON

/// The operators' interface as `/openapi.json` describes it, at an address of its own.
///
/// The server knows no command: the caller that hands in the access describes the commands by the pieces that
/// stand here.
package struct DescribedConsole: Sendable {
    /// One member of an object, its value as JSON.
    package struct Member: Sendable {
        package let name: String
        package let json: [UInt8]

        package init(name: String, json: [UInt8]) {
            self.name = name
            self.json = json
        }
    }

    private static let root = "/console/api"

    private let commands: [Member]

    /// - Parameter commands: the item of each path.
    init(commands: [Member]) { self.commands = commands }

    var paths: [Member] { [Self.list, Self.session, Self.acting] + commands }

    // MARK: - Pieces of a path

    package static func path(of words: [String]) -> String {
        ([root] + words).joined(separator: "/")
    }

    /// Begins a path's item with where it is served; the caller ends the object.
    package static func item() -> JSONLine {
        var line = JSONLine()
        line.beginObject()
        line.key("servers")
        line.beginArray()
        line.beginObject()
        line.key("url")
        line.text("http://{console}")
        line.key("description")
        line.text("the operators' address, console.listen; https where it has TLS")
        line.key("variables")
        line.beginObject()
        line.key("console")
        line.beginObject()
        line.key("default")
        line.text(ConsoleSettings.listenDefault)
        line.endObject()
        line.endObject()
        line.endObject()
        line.endArray()
        line.key("x-beyond-the-original")
        line.flag(true)
        return line
    }

    /// Appends who may ask: a script by its token, or a page by its cookie and, where it changes something, its secret.
    package static func appendSecurity(isForPages: Bool, to line: inout JSONLine) {
        line.key("security")
        line.beginArray()
        for way in [["operatorToken"], ["operatorSession"] + (isForPages ? ["operatorPage"] : [])] {
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

    /// Appends the answers of an operation: what was asked for, in one of some types, and faults.
    package static func appendAnswers(as types: [String], to line: inout JSONLine) {
        line.key("responses")
        line.beginObject()
        line.key("200")
        line.beginObject()
        line.key("description")
        line.text("what the command answers")
        line.key("content")
        line.beginObject()
        for type in types {
            line.key(type)
            line.beginObject()
            line.key("schema")
            line.beginObject()
            if type == "application/json" {
                line.key("type")
                line.text("object")
            }
            line.endObject()
            line.endObject()
        }
        line.endObject()
        line.endObject()
        for status in Set(ConsoleFault.Code.allCases.map(\.status)).sorted() {
            line.key("\(status)")
            line.encoded(Array(faultAnswer.utf8))
        }
        line.endObject()
    }

    private static let faultAnswer =
        #"{"description":"a fault","content":{"application/json":{"schema":"#
        + ##"{"$ref":"#/components/schemas/ConsoleFault"}}}}"##

    // MARK: - What is no command

    private static var list: Member {
        var line = item()
        append(
            "get", "console", "the commands, their arguments, and what the caller may",
            to: &line)
        line.endObject()
        return Member(name: root, json: line.bytes)
    }

    private static var session: Member {
        var line = item()
        append("get", "console-session-get", "who is signed in", to: &line)
        append("delete", "console-session-delete", "sign out", to: &line)
        line.key("post")
        line.beginObject()
        line.key("operationId")
        line.text("console-session")
        line.key("summary")
        line.text("sign in, for a page")
        line.key("security")
        line.beginArray()
        line.endArray()
        line.key("requestBody")
        line.encoded(Array(signIn.utf8))
        appendAnswers(as: ["application/json"], to: &line)
        line.endObject()
        line.endObject()
        return Member(name: path(of: ["session"]), json: line.bytes)
    }

    private static let signIn =
        #"{"required":true,"content":{"application/json":{"schema":{"type":"object","#
        + #""required":["email","password"],"properties":{"email":{"type":"string"},"#
        + #""password":{"type":"string"},"code":{"type":"string"}}}}}}"#

    private static var acting: Member {
        var line = item()
        append(
            "delete", "console-acting-delete", "act as oneself again, in a session", to: &line)
        append(
            "post", "console-acting", "act as somebody in a container environment, in a session",
            taking: Array(acted.utf8), to: &line)
        line.endObject()
        return Member(name: path(of: ConsoleActing.words), json: line.bytes)
    }

    private static let acted =
        #"{"required":true,"content":{"application/json":{"schema":{"type":"object","#
        + #""required":["email","container","environment"],"properties":{"email":"#
        + #"{"type":"string"},"container":{"type":"string"},"environment":{"enum":"#
        + #"["development","production"]}}}}}}"#

    private static func append(
        _ method: String, _ name: String, _ summary: String, taking body: [UInt8]? = nil,
        to line: inout JSONLine
    ) {
        line.key(method)
        line.beginObject()
        line.key("operationId")
        line.text(name)
        line.key("summary")
        line.text(summary)
        appendSecurity(isForPages: method != "get", to: &line)
        if let body {
            line.key("requestBody")
            line.encoded(body)
        }
        appendAnswers(as: ["application/json"], to: &line)
        line.endObject()
    }

    // MARK: - What they name

    var schemas: [Member] {
        var line = JSONLine()
        line.beginObject()
        line.key("type")
        line.text("object")
        line.key("required")
        line.encoded(Array(#"["error","reason"]"#.utf8))
        line.key("properties")
        line.beginObject()
        line.key("error")
        line.beginObject()
        line.key("type")
        line.text("string")
        line.key("enum")
        line.beginArray()
        for code in ConsoleFault.Code.allCases { line.text(code.rawValue) }
        line.endArray()
        line.endObject()
        for (key, type) in [("reason", "string"), ("retryAfter", "integer"), ("shown", "object")] {
            line.key(key)
            line.encoded(Array(#"{"type":"\#(type)"}"#.utf8))
        }
        line.endObject()
        line.endObject()
        return [Member(name: "ConsoleFault", json: line.bytes)]
    }

    var securitySchemes: [Member] {
        [
            ("operatorToken", #"{"type":"http","scheme":"bearer"}"#),
            (
                "operatorSession",
                #"{"type":"apiKey","in":"cookie","name":"lenticular-console"}"#
            ),
            ("operatorPage", #"{"type":"apiKey","in":"header","name":"X-Console-Page"}"#),
        ].map { Member(name: $0.0, json: Array($0.1.utf8)) }
    }
}
