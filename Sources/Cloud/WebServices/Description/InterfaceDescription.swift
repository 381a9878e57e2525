import CloudModel
import JSON
import RecordDecoding

/// The interface as programs read it: `/openapi.json` and `/capabilities`, made once at the start.
package struct InterfaceDescription: Sendable {
    /// What a server says of itself.
    package struct ServerFacts: Sendable {
        let version: String
        /// Where clients reach it, without a slash at the end.
        let baseURL: String
        /// Who may make an account.
        let signUp: String
        /// Where its JavaScript client is.
        let clientPath: String
        /// How notices reach devices.
        let destinations: [String]
        /// Limits that are none of `ServiceLimits`.
        let furtherLimits: [(name: String, value: Int64)]
        /// What others serve beside the endpoints; nil for nothing.
        let beside: InterfacePart?

        package init(
            version: String, baseURL: String, signUp: String, clientPath: String,
            destinations: [String], furtherLimits: [(name: String, value: Int64)],
            beside: InterfacePart? = nil
        ) {
            self.beside = beside
            self.version = version
            self.baseURL = baseURL
            self.signUp = signUp
            self.clientPath = clientPath
            self.destinations = destinations
            self.furtherLimits = furtherLimits
        }
    }

    /// By OpenAPI 3.1.
    package let openAPI: [UInt8]
    package let capabilities: [UInt8]

    package init(_ limits: ServiceLimits, of server: ServerFacts) {
        openAPI = OpenAPIDocument.make(limits, of: server)
        capabilities = Self.capabilities(limits, of: server)
    }

    /// What clients of the original do not know; each is described in docs/protocol.
    private static let extensions = [
        "accessRequests", "appWebTokens", "changeTokenExpired", "conflictServerRecord",
        "eventStreams", "faultDetails", "ckOnBehalfOf", "oneTimeLinks", "publicChanges",
        "queryAlwaysByNameAndTimes", "queryGetCurrentSyncToken", "resumableUploads", "waitSeconds",
        "webPush", "writeId",
    ]

    /// Of the server; a container may have lower ones of its own.
    private static let told: [(name: String, value: ValueShape.Limit)] = [
        ("operationsPerRequestMax", \.operationsPerRequestMax),
        ("recordsPerResponseMax", \.recordsPerResponseMax),
        ("recordBytesMax", \.recordBytesMax), ("zonesPerUserMax", \.zonesPerUserMax),
        ("participantsPerShareMax", \.participantsPerShareMax),
        ("subscriptionsPerUserMax", \.subscriptionsPerUserMax),
        ("subscriptionBytesMax", \.subscriptionBytesMax),
        ("discoveriesPerDayMax", \.discoveriesPerDayMax),
        ("deleteSelfSourcesMax", \.deleteSelfSourcesMax),
        ("cascadeRecordsMax", \.cascadeRecordsMax), ("queryRowsMax", \.queryRowsMax),
        ("destinationsPerUserMax", \.destinationsPerUserMax),
        ("referencesPerRecordMax", \.referencesPerRecordMax),
        ("fieldsPerTypeMax", \.fieldsPerTypeMax), ("recordTypesMax", \.recordTypesMax),
        ("indexedValuesPerRecordMax", \.indexedValuesPerRecordMax),
        ("assetTokensPerRequestMax", \.assetTokensPerRequestMax),
        ("filtersPerQueryMax", \.filtersPerQueryMax), ("sortsPerQueryMax", \.sortsPerQueryMax),
        ("listValuesPerQueryMax", \.listValuesPerQueryMax),
        ("clientTokenBytesMax", \.clientTokenBytesMax),
        ("feedWaitSecondsMax", \.feedWaitSecondsMax), ("courierPollSeconds", \.courierPollSeconds),
        ("tombstoneDays", \.tombstoneDays),
    ]

    private static func capabilities(_ limits: ServiceLimits, of server: ServerFacts) -> [UInt8] {
        var line = JSONLine(reserving: 2_048)
        line.beginObject()
        for (key, text) in [
            ("server", "Lenticular"), ("version", server.version), ("baseURL", server.baseURL),
            ("signUp", server.signUp), ("client", server.clientPath),
            ("description", "/openapi.json"),
        ] as [(StaticString, String)] {
            line.key(key)
            line.text(text)
        }
        line.key("protocolVersions")
        line.beginArray()
        line.number(1)
        line.endArray()
        for (key, texts) in [
            ("databases", DatabaseScope.allCases.map(\.rawValue)),
            ("environments", Environment.allCases.map(\.rawValue)),
            ("destinations", server.destinations), ("extensions", extensions),
        ] as [(StaticString, [String])] {
            line.key(key)
            line.beginArray()
            for text in texts { line.text(text) }
            line.endArray()
        }
        line.key("limits")
        line.beginObject()
        for (name, path) in told {
            line.key(name)
            line.number(Int64(limits[keyPath: path]))
        }
        for (name, value) in server.furtherLimits {
            line.key(name)
            line.number(value)
        }
        line.endObject()
        line.endObject()
        return line.bytes
    }
}

/// A part of an interface that somebody else serves, in the terms of OpenAPI: members of three of its objects.
package struct InterfacePart: Sendable {
    package typealias Member = (name: String, json: [UInt8])

    let paths: [Member]
    let schemas: [Member]
    let securitySchemes: [Member]

    package init(paths: [Member], schemas: [Member], securitySchemes: [Member]) {
        self.paths = paths
        self.schemas = schemas
        self.securitySchemes = securitySchemes
    }
}
