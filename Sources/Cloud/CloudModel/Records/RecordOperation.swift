/// One save or delete of a `records/modify` request (web-services.md §4.2), legal once built.
///
/// A class, since each is passed on a dozen times and has as many reference-counted parts.
package final class RecordOperation: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case create, update, forceUpdate, replace, forceReplace, delete, forceDelete

        /// Whether the operation names the version it starts from, and fails on another.
        package var comparesTag: Bool { self == .update || self == .replace || self == .delete }

        /// Whether the operation removes the record.
        package var deletes: Bool { self == .delete || self == .forceDelete }

        /// Whether fields that are not sent keep their values.
        package var merges: Bool { self == .update || self == .forceUpdate }
    }

    /// What happens to the record's parent.
    package enum Parent: Sendable, Equatable {
        case absent, cleared
        case set(RecordName)
    }

    package let kind: Kind
    package let name: RecordName
    package let type: RecordTypeName?
    /// The tag that the client saw; compared for equality only.
    package let changeTag: String?
    package let fields: EncodedFields
    package let parent: Parent
    /// What the operation says about a share beside its fields; nil when it says nothing.
    package let share: ShareRequest?
    /// Whether the record is to have a short identifier before it is shared.
    package let createsShortGUID: Bool
    package let rendering: RecordRendering

    package init(
        kind: Kind, name: RecordName, type: RecordTypeName?, changeTag: String?,
        fields: EncodedFields, parent: Parent, share: ShareRequest? = nil,
        createsShortGUID: Bool = false, rendering: RecordRendering
    ) {
        self.kind = kind
        self.name = name
        self.type = type
        self.changeTag = changeTag
        self.fields = fields
        self.parent = parent
        self.share = share
        self.createsShortGUID = createsShortGUID
        self.rendering = rendering
    }
}

/// An operation, or why it is refused: an item that fails before it is tried.
package enum DecodedOperation: Sendable {
    case operation(RecordOperation)
    case fault(name: String, Fault)

    /// The name as the request has it, or as it was made for it.
    package var recordName: String {
        switch self {
        case .operation(let operation): operation.name.text
        case .fault(let name, _): name
        }
    }
}

/// A reference within a field, as far as it acts on its target or source.
package struct FieldReference: Hashable, Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case none = "NONE"
        case deleteSelf = "DELETE_SELF"
        case validate = "VALIDATE"
    }

    package let name: RecordName
    /// Nil for the zone of the record that holds the reference.
    package let zone: ZoneID?
    package let action: Action

    package init(name: RecordName, zone: ZoneID?, action: Action) {
        self.name = name
        self.zone = zone
        self.action = action
    }
}

/// The fields of one operation, already in the form in which they are stored and answered.
package struct EncodedFields: Sendable {
    /// One field: where its member lies in `bytes`, or that it is cleared.
    package struct Field: Sendable {
        package let name: FieldName
        /// Nil when the field is cleared.
        package let type: FieldType?
        /// Whether the type is what the value looks like, since the request does not name one.
        package let isInferred: Bool
        /// Of `"name":{"value":…,"type":"…"}`, without a comma.
        package let range: Range<Int>
        package let references: [FieldReference]
        /// Of an ASSETID or ASSETID_LIST, in order.
        ///
        /// In `bytes` only those with a receipt stand in full: the others are read out of the record.
        package let assets: [FieldAsset]

        package init(
            name: FieldName, type: FieldType?, isInferred: Bool = false, range: Range<Int>,
            references: [FieldReference], assets: [FieldAsset] = []
        ) {
            self.name = name
            self.type = type
            self.isInferred = isInferred
            self.range = range
            self.references = references
            self.assets = assets
        }
    }

    /// The members of the fields that have values, joined by commas.
    package var bytes: [UInt8]
    package var fields: [Field]

    package init(bytes: [UInt8] = [], fields: [Field] = []) {
        self.bytes = bytes
        self.fields = fields
    }
}

/// How records are shown: which fields, and whether numbers come as strings.
package struct RecordRendering: Sendable, Equatable {
    /// Nil for all fields; the names are compared with the record's, legal or not.
    package var desiredKeys: Set<String>?
    package var numbersAsStrings: Bool
    /// For the server's own eyes: assets with their digests and without links.
    package var keepsAssetsAsStored = false

    package init(desiredKeys: Set<String>? = nil, numbersAsStrings: Bool = false) {
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }

    /// As stored: nothing is left out or changed.
    package static let whole = RecordRendering()

    package var isWhole: Bool { desiredKeys == nil && !numbersAsStrings }
}
