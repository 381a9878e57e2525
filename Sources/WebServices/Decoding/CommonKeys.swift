import CloudModel
import JSON

// Keys that several endpoints share (web-services.md §3).
extension RequestObject {
    /// The array of what the request asks for, which it must have.
    ///
    /// - Throws: BAD_REQUEST also for more than `ServiceLimits.operationsPerRequestMax` elements.
    func items(_ key: StaticString, _ limits: ServiceLimits) throws(Fault) -> JSONElements {
        guard let elements = try array(key), let count = self[key]?.count else {
            throw RequestObject.missing(key)
        }
        guard count <= limits.operationsPerRequestMax else {
            throw .limitExceeded(
                "\(key): \(count) given; the limit is \(limits.operationsPerRequestMax) "
                    + "(limits.operationsPerRequestMax)")
        }
        return elements
    }

    /// `desiredKeys` and `numbersAsStrings`, over what an outer level asks for.
    func rendering(over outer: RecordRendering = .whole) throws(Fault) -> RecordRendering {
        let keys = try strings("desiredKeys")
        let (spelt, alias) = (try bool("numbersAsStrings"), try bool("numberAsStrings"))
        return RecordRendering(
            desiredKeys: keys.map { Set($0) } ?? outer.desiredKeys,
            numbersAsStrings: spelt ?? alias ?? outer.numbersAsStrings)
    }

    /// `resultsLimit`: over the limit it is capped silently, below 1 it is refused (rulings.md 13).
    func resultsLimit(_ limits: ServiceLimits) throws(Fault) -> Int? {
        guard let wanted = try integer("resultsLimit") else { return nil }
        guard wanted > 0 else {
            throw .badRequest("resultsLimit: expected a number above 0")
        }
        return Int(min(wanted, Int64(limits.recordsPerResponseMax)))
    }
}
