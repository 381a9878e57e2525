#if PostgreSQL
    /// The promises that the engine on PostgreSQL does not keep yet, because they need what is not built.
    ///
    /// `docs/design/postgres.md` says what that is.
    enum NotBuiltPromises {
        static let all: Set<String> = [
            "A cursor of one query goes on there; what is none is refused",
            "A part whose mark is that of an earlier image is as it was then",
            "A query finds what was committed before its snapshot, and nothing else",
            "A query looks at no more records than it may",
            "A query says what is missing, and is answered when the engine has seen to that",
            "A snapshot ends when its query has had its time, and those after it do not",
            "A store is known once it was opened, and to the next start",
            "A store that comes and goes goes on with its life and its positions",
            "A store that is reset has a schema and its history, and new positions",
            "A text has the same words in every engine",
            "An image is of one moment; what is restored from it begins another life",
            "An open store tells how it fares; a closed one takes no writes",
            "Damaged bytes are not restored, and leave no data",
            "Figures have a name each, and count what closed stores have done",
            "Known stores are a list, in which those of a container are found",
            "Numbers lie by their value, whole or not, before all texts",
            "Of a container that is removed nothing is left, for its name's next either",
            "Places are found within circles, and sorted by their exact distance",
            "Records are found by all of some words, or by any of them",
            "Texts lie in the order of code points, whatever language they are of",
            "What is saved while the engine makes ready is found in the end",
            "When a store is due is kept, and its end says when its work is",
            "Who has no value comes before all who have one; equal ones by their number",
        ]
    }
#endif
