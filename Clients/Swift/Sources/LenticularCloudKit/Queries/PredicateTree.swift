import Foundation

/// A predicate as it was written, before it is known whether a server can answer it.
indirect enum PredicateTree: @unchecked Sendable {
    // Unchecked: arguments are values that a field can hold.

    /// One side of a comparison.
    enum Operand {
        case key(String)
        case value(Any?)
        case list([Operand])
        case now
        /// The distance of a place field from a place.
        case distance(field: String, from: Any?)
        /// The record as a whole, whose text fields are searched.
        case record
        /// Words that are looked for each by itself.
        case tokens(Any?, options: String?)
    }

    enum Comparison: String {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case `in` = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case between = "BETWEEN"
    }

    case always(Bool)
    case and([PredicateTree])
    case not(PredicateTree)
    /// - `any`: whether ANY or SOME stands before it.
    case comparison(Operand, Comparison, Operand, any: Bool)
    /// Filters of a query that was made of them.
    case filters([CKQuery.Filter])
    /// What a server cannot answer, by the word that says so. Told when the query runs, as natively.
    case refused(String)
}
