import CloudKitWire
import Foundation

@testable import LenticularCloudKit

extension NSPredicate {
    /// The filters that a query by this predicate sends, as text, so that a table of them can be read.
    ///
    /// - Throws: `CKError` for what no server can answer.
    func filterText() throws -> String {
        let query = CKQuery(recordType: "T", predicate: self)
        guard let filters = try query.filters() else { return "nothing" }
        return filters.map(\.text).joined(separator: " & ")
    }
}

extension CKQuery.Filter {
    fileprivate var text: String {
        let value: String =
            switch self.value {
            case .string(let text): "'\(text)'"
            case .int64(let number): "\(number)"
            case .double(let number): "\(number)"
            case .timestamp(let date): "at \(FieldValue.milliseconds(of: date))"
            case .bytes(let data): "\(data.count) bytes"
            case .reference(let reference): "-> \(reference.recordID.recordName)"
            case .location: "a place"
            case .asset: "a file"
            case .list(let members, let element): "\(members.count) x \(element?.rawValue ?? "?")"
            }
        let radius = metres.map { " \(Int($0))m" } ?? ""
        return "\(key) \(comparator.rawValue) \(value)\(radius)"
    }
}
