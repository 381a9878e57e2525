import CloudModel
import JSON

extension LookupRecords {
    /// The JSON of whole records, each by itself, in the order of their names; asked for together.
    ///
    /// - Returns: for each that is not shown its fault, as `append` of several hands it to `failed`.
    package func bodies(named names: [String]) throws -> [Result<[UInt8], Fault>] {
        var (writer, faults) = (JSONWriter(), [Fault]())
        writer.raw("[")
        _ = try append(
            names.map { Item(name: $0, rendering: .whole) }, to: &writer, bytesMax: .max,
            goesOn: { _ in true }
        ) { _, fault, writer in
            faults.append(fault)
            writer.raw("null")
        }
        writer.raw("]")
        var next = faults.makeIterator()
        return try JSONDocument(parsing: writer.bytes).root.elements.map { element in
            if element.isNull, let fault = next.next() { return .failure(fault) }
            return .success(element.withRawBytes { [UInt8]($0) })
        }
    }
}
