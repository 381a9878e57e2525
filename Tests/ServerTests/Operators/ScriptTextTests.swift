import Testing

@testable import Server

@Suite("Scripts as browsers get them")
struct ScriptTextTests {
    @Test(
        "Spaces and line breaks that a script does not need are left out, and what is between quotes stays as it is",
        arguments: [
            ("const a = b + 1; // why", "const a=b+1;"),
            ("if (a) { return b; } else return c", "if(a){return b;}else return c"),
            ("return 'a  b' + \"c  d\"", "return'a  b'+\"c  d\""),
            (#"say('it\'s  so', 1)"#, #"say('it\'s  so',1)"#),
            ("a + +b - -c", "a+ +b- -c"),
            (
                "html`<p class=\"a b\">${ one( {a: 1} ) }  two</p>` + 3",
                "html`<p class=\"a b\">${one({a:1})}  two</p>`+3"
            ),
            ("`a ${b ? html`<i> ${c} </i>` : ''} d` ; e", "`a ${b?html`<i> ${c} </i>`:''} d`;e"),
            (#"`\`  \${  ${a + b}`"#, #"`\`  \${  ${a+b}`"#),
            ("a.replace(/ [ /'] /g, b)", "a.replace(/ [ /'] /g,b)"),
            ("return / \\/ /.test(a)", "return/ \\/ /.test(a)"),
            ("(a + b) / 2 + c / d", "(a+b)/2+c/d"),
            ("static #a = 1; get b() {}", "static #a=1;get b(){}"),
            ("let é = ä in  ö", "let é=ä in ö"),
            ("a = {\nb: [\n1,\n2\n]\n};\nc(\nd\n)\n.e();\nf\n", "a={b:[1,2]};c(d).e();f\n"),
            ("if (a)\nb;\n}\nget c() {\nreturn d\n}", "if(a)\nb;}\nget c(){return d}"),
            ("`a;\nb(\n${\nc\n}\n)`\n+ ';'", "`a;\nb(\n${c}\n)`\n+';'"),
            ("'unfinished  ", "'unfinished  "), ("`${a  ", "`${a"), ("/ [", "/ ["), ("", ""),
        ])
    func compacted(source: String, expected: String) {
        #expect(
            String(decoding: ScriptText(Array(source.utf8)).compacted(), as: UTF8.self) == expected)
    }
}
