#if os(Linux)
    import Foundation

    // Apps write `date as CVarArg` where a predicate's format takes an argument. Predicates of this library take any
    // value; the casts are there so that such lines compile.

    extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
        /// The date as an object, which stands for it in formats.
        public var _cVarArgObject: any CVarArg { self as NSDate }

        /// Not asked for: the object stands for the date.
        public var _cVarArgEncoding: [Int] { [] }
    }

    extension NSDate: @retroactive CVarArg {
        /// The object's address, as formats take objects.
        public var _cVarArgEncoding: [Int] { [addressOf(self)] }
    }

    extension NSNumber: @retroactive CVarArg {
        /// The object's address, as formats take objects.
        public var _cVarArgEncoding: [Int] { [addressOf(self)] }
    }

    private func addressOf(_ object: NSObject) -> Int {
        Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }
#endif
