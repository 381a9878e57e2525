import CloudModel
import Foundation
import Testing

@Suite("What the server and its Swift client must agree on, in the file that both read")
struct ClientFactsTests {
    private struct Facts: Decodable {
        struct Fault: Decodable {
            let status: Int
        }

        struct Names: Decodable {
            let legal: [String]
            let illegal: [String]
        }

        let faults: [String: Fault]
        let badRequestDetails: [String: Int]
        let zoneDetails: [String: Int]
        let comparators: [String]
        let recordsPerRequestMax: Int
        let fieldNames: Names
    }

    private let facts: Facts

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Clients/Swift/facts.json")
        facts = try JSONDecoder().decode(Facts.self, from: Data(contentsOf: file))
    }

    @Test("The client knows every fault and every detail")
    func faults() {
        #expect(Set(facts.faults.keys) == Set(FaultCode.allCases.map(\.rawValue)))
        for code in FaultCode.allCases {
            #expect(facts.faults[code.rawValue]?.status == code.httpStatus, "\(code)")
        }
        let details = Set(facts.badRequestDetails.keys).union(facts.zoneDetails.keys)
        #expect(details == Set(FaultDetail.allCases.map(\.rawValue)))
    }

    @Test("The client knows every comparator, the size of a request and the names of fields")
    func comparatorsAndNames() {
        let comparators = RecordQuery.Comparator.allCases.map(\.rawValue).sorted()
        #expect(comparators == facts.comparators)
        #expect(ServiceLimits().operationsPerRequestMax == facts.recordsPerRequestMax)
        for name in facts.fieldNames.legal { #expect(FieldName(name) != nil, "\(name)") }
        for name in facts.fieldNames.illegal { #expect(FieldName(name) == nil, "\(name)") }
    }
}
