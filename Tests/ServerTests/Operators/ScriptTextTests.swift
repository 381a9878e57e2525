import Testing

@testable import Server

@Suite("Scripts as browsers get them")
struct ScriptTextTests {
    @Test(
        "Spaces around signs are left out of a script, and what is between quotes stays as it is",
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
            ("'unfinished  ", "'unfinished  "), ("`${a  ", "`${a"), ("/ [", "/ ["), ("", ""),
        ])
    func compacted(source: String, expected: String) {
        #expect(
            String(decoding: ScriptText(Array(source.utf8)).compacted(), as: UTF8.self) == expected)
    }
}
