import CloudModel
import Foundation
import JSON
import Testing
import WebServices

// Only debug builds note what decoders look for.
#if DEBUG
    /// `/openapi.json` holds what the decoders read, and nothing else.
    @Suite("The interface described")
    struct DescriptionTests {
        private let server: WireServer
        private let document: DescribedInterface

        init() throws {
            server = try WireServer { $0.operationsPerRequestMax = 123 }
            let description = InterfaceDescription(
                server.limits,
                of: InterfaceDescription.ServerFacts(
                    version: "1.2.3", baseURL: "https://sync.example", signUp: "open",
                    clientPath: "/client/1.2.3/cloudkit.js", destinations: ["courier"],
                    furtherLimits: [("bodyBytesMax", 5)]))
            document = try DescribedInterface(description.openAPI)
        }

        /// Sends bodies that have every key, and all but one, with each value that the description shows.
        private func readings(of operation: DescribedInterface.Operation) throws -> Set<[String]> {
            let client = try operation.isForKeys ? server.key(scope: .container) : server.user()
            var found: Set<[String]> = []
            // Readings are told apart by their bytes alone: so that no other test sends the same, white space ends them.
            let end = "\n\t \n\t "
            for body in document.examples(of: operation).map({ $0 + end }) {
                let readings = JSONReadings(of: Array(body.utf8))
                let isOfUsers = operation.path.contains("/users/")
                let module = operation.path.split(separator: "/")[0]
                let target = operation.path.split(separator: "/").dropFirst(4).joined(
                    separator: "/"
                )
                .replacing("{database}", with: isOfUsers ? "public" : "private")
                let answer = try client.send(target, body, module: String(module))
                #expect(answer.status < 500, "\(body): \(answer.text)")
                found.formUnion(readings.end())
            }
            return found
        }

        @Test("Each decoder looks for the keys that are declared beside it, and for no others")
        func keys() throws {
            #expect(document.operations.count == RouteTable.operations.count)
            for operation in document.operations {
                let read = Set(
                    try readings(of: operation).map { document.normalized($0, in: operation) })
                let declared = document.paths(of: operation)
                #expect(
                    read.subtracting(declared).sorted() == [],
                    "\(operation.path) reads what is not declared")
                #expect(
                    declared.subtracting(read).sorted() == [],
                    "\(operation.path) declares what it does not read")
            }
        }

        @Test("A request that is over a limit which the description shows is refused")
        func limits() throws {
            let items = try #require(
                document.schema("ModifyRecordsRequest")["properties"] as? [String: Any])
            let most = (items["operations"] as? [String: Any])?["maxItems"] as? Int
            #expect(most == 123)
            let one = #"{"operationType":"forceDelete","record":{"recordName":"a"}}"#
            let body = { (count: Int) in
                "{\"operations\":[\([String](repeating: one, count: count).joined(separator: ","))]}"
            }
            #expect(
                try server.user().send("private/records/modify", body(124)).code == "BAD_REQUEST")
        }
    }

    /// An OpenAPI document, and requests made by it.
    struct DescribedInterface {
        struct Operation {
            let path: String
            /// Of the request's body; nil for one without.
            let schema: [String: Any]?
            let isForKeys: Bool
        }

        private let root: [String: Any]
        let operations: [Operation]

        init(_ bytes: [UInt8]) throws {
            let root = try #require(
                JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
            #expect(root["openapi"] as? String == "3.1.0")
            self.root = root
            var operations: [Operation] = []
            for (path, item) in try #require(root["paths"] as? [String: [String: Any]]) {
                guard let post = item["post"] as? [String: Any] else { continue }
                let content = (post["requestBody"] as? [String: Any])?["content"] as? [String: Any]
                let json = content?["application/json"] as? [String: Any]
                operations.append(
                    Operation(
                        path: path, schema: json?["schema"] as? [String: Any],
                        isForKeys: path.hasPrefix("/accounts/")))
            }
            self.operations = operations.sorted { $0.path < $1.path }
        }

        func schema(_ name: String) -> [String: Any] {
            let schemas = (root["components"] as? [String: Any])?["schemas"] as? [String: Any]
            return schemas?[name] as? [String: Any] ?? [:]
        }

        /// What a schema means, with the names of objects looked up.
        private func meanings(_ given: [String: Any]) -> [[String: Any]] {
            if let name = (given["$ref"] as? String)?.split(separator: "/").last {
                return [schema(String(name))]
            }
            if let all = given["allOf"] as? [[String: Any]] { return all.flatMap(meanings) }
            if given["type"] == nil, let any = given["anyOf"] as? [[String: Any]] {
                return any.flatMap(meanings)
            }
            return [given]
        }

        // MARK: - Keys

        func paths(of operation: Operation) -> Set<String> {
            guard let schema = operation.schema else { return [] }
            return paths(below: "", schema)
        }

        private func paths(below path: String, _ schema: [String: Any]) -> Set<String> {
            var found: Set<String> = []
            for meaning in meanings(schema) {
                for (key, value) in meaning["properties"] as? [String: [String: Any]] ?? [:] {
                    found.insert("\(path).\(key)")
                    found.formUnion(paths(below: "\(path).\(key)", value))
                }
                if let items = meaning["items"] as? [String: Any] {
                    found.formUnion(paths(below: path + "[]", items))
                }
                if let values = meaning["additionalProperties"] as? [String: Any] {
                    found.formUnion(paths(below: path + ".*", values))
                }
            }
            return found
        }

        /// A path with `*` in place of names that are the client's own.
        func normalized(_ path: [String], in operation: Operation) -> String {
            var (text, schemas) = ("", operation.schema.map { [$0] } ?? [])
            for part in path {
                let known = schemas.flatMap(meanings)
                if part == "[]" {
                    text += part
                    schemas = known.compactMap { $0["items"] as? [String: Any] }
                    continue
                }
                let named = known.compactMap {
                    ($0["properties"] as? [String: [String: Any]])?[part]
                }
                let open = known.compactMap { $0["additionalProperties"] as? [String: Any] }
                text += named.isEmpty && !open.isEmpty ? ".*" : ".\(part)"
                schemas = named.isEmpty ? open : named
            }
            return text
        }

        // MARK: - Examples

        /// Bodies by which each declared key should be asked for.
        func examples(of operation: Operation) -> [String] {
            guard let schema = operation.schema else { return ["{}"] }
            return values(schema).compactMap {
                // NB: a value that cannot be written is no example.
                (try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys))
                    .map { String(decoding: $0, as: UTF8.self) }
            }
        }

        private func values(_ schema: [String: Any]) -> [Any] {
            meanings(schema).flatMap(valuesOfOne)
        }

        private func valuesOfOne(_ schema: [String: Any]) -> [Any] {
            let examples = schema["examples"] as? [Any] ?? []
            switch schema["type"] as? String {
            case "string":
                let words = schema["enum"] as? [String] ?? []
                if !words.isEmpty {
                    return examples
                        + words.filter { word in
                            !examples.contains { $0 as? String == word }
                        }
                }
                return examples.isEmpty ? ["dGVh"] : examples
            case "boolean": return [true, false]
            case "integer", "number": return examples.isEmpty ? [1] : examples
            case "array":
                return values(schema["items"] as? [String: Any] ?? [:]).map { [$0] }
            default:
                if let open = schema["additionalProperties"] as? [String: Any] {
                    return values(open).map { ["title": $0] }
                }
                return objects(schema)
            }
        }

        /// The object with all keys, with all but one, with each other value of a key, and each of these with
        /// nothing but what is required.
        private func objects(_ schema: [String: Any]) -> [[String: Any]] {
            let keys = schema["properties"] as? [String: [String: Any]] ?? [:]
            let required = schema["required"] as? [String] ?? []
            let choices = (schema["anyOf"] as? [[String: Any]] ?? []).compactMap {
                ($0["required"] as? [String])?.first
            }
            let values = keys.mapValues { self.values($0) }
            var found: [[String: Any]] = []
            for choice in choices.isEmpty ? [nil] : choices.map(Optional.some) {
                let others = choices.filter { $0 != choice }
                let base = values.filter { !others.contains($0.key) }.compactMapValues(\.first)
                let least = base.filter { required.contains($0.key) || $0.key == choice }
                found += [base, least]
                for key in base.keys.sorted() {
                    if !required.contains(key), key != choice {
                        found.append(base.filter { $0.key != key })
                    }
                    for value in values[key] ?? [] {
                        found.append(base.merging([key: value]) { $1 })
                        found.append(least.merging([key: value]) { $1 })
                    }
                }
            }
            return found
        }
    }
#endif
