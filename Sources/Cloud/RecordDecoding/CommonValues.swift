import CloudModel

// Values that several objects of requests hold.
extension ValueShape {
    package static var recordName: ValueShape {
        .text(examples: ["note-1"], bytesMax: RecordName.bytesMax)
    }

    package static func recordType(_ examples: [String] = ["Note"]) -> ValueShape {
        .text(examples: examples, bytesMax: 255)
    }

    package static var fieldName: ValueShape { .text(examples: ["title"], bytesMax: 255) }

    package static var userRecordName: ValueShape {
        .text(examples: ["_0123456789abcdef0123456789abcdef"])
    }

    package static var emailAddress: ValueShape { .text(examples: ["ida@example.org"]) }

    package static var phoneNumber: ValueShape { .text(examples: ["+4915112345678"]) }
}
