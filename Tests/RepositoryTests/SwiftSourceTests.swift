import Testing

@Suite("The scanner that the repository tests read Swift with")
struct SwiftSourceTests {
    @Test("Comments and strings are blanked, interpolations and raw strings among them")
    func blanks() {
        let source = SwiftSource(
            """
            let a = "{ \\(b("}") ) {" // {
            /* { /* { */ } */ let c = #"{"\\#(d)"#
            let e = 1
            """)
        #expect(!source.code.joined().contains("{"))
        #expect(!source.code.joined().contains("}"))
        #expect(source.code[0].hasPrefix("let a ="))
        #expect(source.code[1].contains("let c ="))
        #expect(source.code[2] == "let e = 1")
    }

    @Test("A function's length counts from its declaring word to its closing brace")
    func lengths() {
        let source = SwiftSource(
            """
            struct S {
                let x = y.map { $0 }
                func a(
                    b: () -> Void = {}
                ) {
                    if true {
                    }
                }
                var c: Int {
                    1
                }
                init() {}
            }
            """)
        #expect(
            source.functions == [
                .init(line: 3, lineCount: 6), .init(line: 9, lineCount: 3),
                .init(line: 12, lineCount: 1),
            ])
    }

    @Test("A stored property with a closure, a type and a call of an initialiser are no functions")
    func others() {
        let source = SwiftSource(
            """
            var a: [Int] = b.map {
                $0
            }
            protocol P {
                func required()
            }
            if S.init() == t {
            }
            """)
        #expect(source.functions.isEmpty)
    }

    @Test("Imports are read in every form")
    func imports() {
        let source = SwiftSource(
            """
            import A
            @testable import B
            package import C
            import struct D.E
            // import F
            let text = "import G"
            """)
        #expect(source.imports == ["A", "B", "C", "D"])
    }
}
