#if PostgreSQL
    /// The promises that the engine on PostgreSQL does not keep yet, because they need what is not built.
    ///
    /// `docs/design/postgres.md` says what that is.
    enum NotBuiltPromises {
        static let all: Set<String> = [
            "A cursor of one query goes on there; what is none is refused",
            "A query finds what was committed before its snapshot, and nothing else",
            "A query looks at no more records than it may",
            "A query says what is missing, and is answered when the engine has seen to that",
            "A snapshot ends when its query has had its time, and those after it do not",
            "A text has the same words in every engine",
            "Numbers lie by their value, whole or not, before all texts",
            "Places are found within circles, and sorted by their exact distance",
            "Records are found by all of some words, or by any of them",
            "Texts lie in the order of code points, whatever language they are of",
            "What is saved while the engine makes ready is found in the end",
            "Who has no value comes before all who have one; equal ones by their number",
        ]
    }
#endif
