#if os(Linux)
    import Foundation

    /// A predicate made from a format, where the system has none.
    final class FormatPredicate: NSPredicate {
        let parsed: PredicateTree

        init(_ parsed: PredicateTree) {
            self.parsed = parsed
            super.init(value: true)
        }

        required init?(coder: NSCoder) { nil }

        override func copy(with zone: NSZone? = nil) -> Any { self }
    }

    /// Gives predicates back the initialiser that takes a format.
    ///
    /// Foundation marks its own as unavailable here,
    /// and one that is available goes before.
    public protocol PredicateFormatting {}

    extension NSPredicate: PredicateFormatting {}

    extension PredicateFormatting where Self: NSPredicate {
        /// A predicate for queries, such as `NSPredicate(format: "size > %d AND kind = %@", 5, "tea")`.
        ///
        /// - Precondition: the format can be read, and there is an argument for each placeholder. What no server
        ///   can answer is told when the query runs.
        public init(format: String, _ arguments: Any...) {
            self.init(format: format, argumentArray: arguments)
        }

        /// The same, with the arguments in an array.
        public init(format: String, argumentArray arguments: [Any]?) {
            do {
                let tree = try PredicateParser.parse(format, arguments ?? [])
                guard let made = FormatPredicate(tree) as? Self else {
                    preconditionFailure("a format makes an NSPredicate, not a \(Self.self)")
                }
                self = made
            } catch {
                preconditionFailure("predicate format \"\(format)\": \(error)")
            }
        }
    }

    /// What Foundation warns of reading: it serves here to tell constants from blocks, no more.
    private protocol Written {
        var predicateFormat: String { get }
    }

    extension NSPredicate: Written {}

    extension NSPredicate {
        /// What the predicate says, as far as it was made from formats and constants.
        var tree: PredicateTree {
            switch self {
            case let predicate as FormatPredicate: return predicate.parsed
            case let compound as NSCompoundPredicate:
                let parts = compound.subpredicates.map(\.tree)
                switch compound.compoundPredicateType {
                case .and: return .and(parts)
                case .not: return parts.first.map { .not($0) } ?? .refused("NOT")
                default: return .refused("OR")
                }
            default:
                switch (self as any Written).predicateFormat {
                case "TRUEPREDICATE": return .always(true)
                case "FALSEPREDICATE": return .always(false)
                default: return .refused("a block")
                }
            }
        }
    }
#endif
