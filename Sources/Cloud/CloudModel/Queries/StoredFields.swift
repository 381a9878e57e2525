import JSON

/// The fields of a stored body, as indexes, filters and sorts see them.
///
/// Nothing of the body is decoded but what is asked for.
package struct StoredFields: Sendable {
    /// What a field holds.
    package enum Content: Sendable {
        /// The record has no such field, or one that queries cannot look into.
        case absent
        case one(IndexValue)
        /// The members of a list, in its order.
        case many([IndexValue])
    }

    private let body: StoredBody

    /// - Parameter fields: where the object of the fields is; nil to look for it.
    /// - Throws: `JSONError` for what is no stored body.
    package init(_ body: UnsafeRawBufferPointer, fields: Range<Int>? = nil) throws {
        self.init(try StoredBody(copying: body, fields: fields))
    }

    package init(_ body: StoredBody) { self.body = body }

    /// A field's values.
    ///
    /// - Parameter isFolded: whether text comes without regard to case.
    package func content(of name: String, isFolded: Bool = false) -> Content {
        // Comparing with all of their names would cost half of what finding a field does.
        if name.utf8.first == UInt8(ascii: "_"), let field = SystemField(rawValue: name) {
            return system(field)
        }
        guard let (value, element) = tagged(name) else { return .absent }
        guard value.kind == .array else {
            return scalar(value, element, isFolded).map { .one($0) } ?? .absent
        }
        return .many(value.elements.compactMap { scalar($0, element, isFolded) })
    }

    /// The place that a LOCATION field holds.
    package func location(in name: String) -> RecordQuery.Coordinate? {
        guard let (value, element) = tagged(name), element == .location else { return nil }
        return Self.location(value)
    }

    /// The texts of a STRING or STRING_LIST field; nil when there is none.
    package func texts(in name: String) -> [String]? {
        guard let (value, element) = tagged(name), element == .string else { return nil }
        if value.kind == .string { return value.string.map { [$0] } }
        return value.elements.compactMap(\.string)
    }

    /// The maker of the record.
    package var creator: String? { body.member("created")?["userRecordName"]?.string }

    private func tagged(_ name: String) -> (value: JSONValue, element: FieldType.Element)? {
        guard let field = body.field(name), let value = field["value"],
            let tag = field["type"], field["isEncrypted"] == nil
        else { return nil }
        let element = tag.withStringBytes { text -> FieldType.Element? in
            // A list has its members' tag and `_LIST`.
            let length = value.kind == .array ? text.count - 5 : text.count
            guard length > 0 else { return nil }
            return Self.element(UnsafeRawBufferPointer(rebasing: text[..<length]))
        }
        guard let element = element ?? nil else { return nil }
        return (value, element)
    }

    private static func element(_ tag: UnsafeRawBufferPointer) -> FieldType.Element? {
        FieldType.Element.allCases.first { element in
            element.tag.withUTF8Buffer { $0.count == tag.count && tag.elementsEqual($0) }
        }
    }

    private func scalar(
        _ value: JSONValue, _ element: FieldType.Element, _ isFolded: Bool
    ) -> IndexValue? {
        switch element {
        case .string:
            value.withStringBytes { .text(isFolded ? CaseFolding.fold($0) : [UInt8]($0)) }
        case .int64, .timestamp: value.int64.map { .integer($0) }
        case .double: value.double.map { IndexValue($0) }
        case .reference: reference(value)
        case .location: Self.location(value).map(\.indexValue)
        // Their base64, of which any bytes have one; it is never folded.
        case .bytes: value.withStringBytes { .text([UInt8]($0)) }
        case .asset, .unknown, .number: nil
        }
    }

    private static func location(_ value: JSONValue) -> RecordQuery.Coordinate? {
        guard let latitude = value["latitude"]?.double, let longitude = value["longitude"]?.double
        else { return nil }
        return RecordQuery.Coordinate(latitude: latitude, longitude: longitude)
    }

    private func reference(_ value: JSONValue) -> IndexValue? {
        guard let name = value["recordName"]?.string else { return nil }
        guard let zone = value["zoneID"]?["zoneName"]?.string,
            zone != body.member("zoneID")?["zoneName"]?.string
        else { return IndexValue(name) }
        return .reference(name, otherZone: zone)
    }

    private func system(_ field: SystemField) -> Content {
        let value: IndexValue? =
            switch field {
            case .recordID: body.member("recordName")?.string.map { IndexValue($0) }
            case .createTime: body.member("created")?["timestamp"]?.int64.map { .integer($0) }
            case .modTime: body.member("modified")?["timestamp"]?.int64.map { .integer($0) }
            case .createdBy:
                body.member("created")?["userRecordName"]?.string.map { IndexValue($0) }
            case .modifiedBy:
                body.member("modified")?["userRecordName"]?.string.map { IndexValue($0) }
            case .etag: body.member("recordChangeTag")?.string.map { IndexValue($0) }
            case .parent: body.member("parent")?["recordName"]?.string.map { IndexValue($0) }
            case .share: body.member("share")?["recordName"]?.string.map { IndexValue($0) }
            }
        return value.map { .one($0) } ?? .absent
    }
}

extension IndexValue {
    /// A reference to a record of another zone than the referring one's; within the zone it is the
    /// name alone.
    package static func reference(_ name: String, otherZone zone: String) -> IndexValue {
        // No name holds a line break.
        .text(Array("\(name)\n\(zone)".utf8))
    }
}

extension RecordQuery.Coordinate {
    /// The place as equality compares it.
    package var indexValue: IndexValue {
        IndexValue("\(latitude == 0 ? 0 : latitude),\(longitude == 0 ? 0 : longitude)")
    }
}
