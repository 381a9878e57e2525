import Testing

@testable import Commands
@testable import Control
@testable import Server

@Suite("Reading a command line")
struct CommandLineParserTests {
    private static let echo = Command(
        "pot plant", "put something into a pot",
        positionals: [
            CommandPositional("POT", "where"), CommandPositional("SEED", "what", arity: .many),
        ],
        options: [
            CommandOption("label", value: "TEXT", "what it is called"),
            CommandOption("water", value: "ML", "how much", isRepeatable: true),
            CommandOption("deep", "put it deep"),
            CommandOption("soil", value: "KIND", "which soil", isRequired: true),
        ], action: .local { _, _ in CommandOutput() })
    private static let parser = CommandLineParser(commands: [echo, .version])

    private func invocation(_ arguments: String...) throws -> Invocation {
        guard case .invocation(let invocation) = try Self.parser.parse(arguments) else {
            throw CommandFailure("help was not asked for")
        }
        return invocation
    }

    private func usage(_ arguments: String...) -> String? {
        do {
            _ = try Self.parser.parse(arguments)
            return nil
        } catch { return error.description }
    }

    @Test("Options stand anywhere, as one argument or two")
    func optionsStandAnywhere() throws {
        let found = try invocation(
            "pot", "plant", "--label", "a b", "big", "--water=5", "rose", "--water", "6", "--deep",
            "--soil=", "lily")
        #expect(found.command.name == "pot plant")
        #expect(found.value("label") == "a b")
        #expect(found.values("water") == ["5", "6"])
        #expect(found.has("deep"))
        #expect(found.value("soil") == "")
        #expect(found.value("POT") == "big")
        #expect(found.values("SEED") == ["rose", "lily"])
    }

    @Test("After -- everything is taken by its place")
    func doubleDashEndsOptions() throws {
        let found = try invocation("pot", "plant", "--soil=x", "--", "--deep", "-")
        #expect(found.value("POT") == "--deep")
        #expect(found.values("SEED") == ["-"])
        #expect(!found.has("deep"))
    }

    @Test("An invocation's arguments make the same invocation again")
    func argumentsRoundTrip() throws {
        let found = try invocation(
            "pot", "plant", "--soil=x=y", "--deep", "--water=1", "--water=2", "--", "-a", "b")
        guard case .invocation(let again) = try Self.parser.parse(found.arguments) else {
            Issue.record("no invocation")
            return
        }
        #expect(again.arguments == found.arguments)
        #expect(again.values("water") == ["1", "2"])
        #expect(again.value("soil") == "x=y")
        #expect(again.value("POT") == "-a")
    }

    @Test("A wrong command line is refused in one line that names what is wrong")
    func refusals() {
        #expect(usage() == "lenticular: a command is missing; see lenticular --help")
        #expect(usage("pot") == "lenticular pot: a command is missing; see lenticular pot --help")
        #expect(
            usage("pot", "grow")
                == "lenticular pot: there is no 'grow' here; see lenticular pot --help")
        let see = "; see lenticular pot plant --help"
        #expect(usage("pot", "plant", "--soil=x") == "lenticular pot plant: POT is missing\(see)")
        #expect(
            usage("pot", "plant", "--soil=x", "p") == "lenticular pot plant: SEED is missing\(see)")
        #expect(
            usage("pot", "plant", "p", "s") == "lenticular pot plant: --soil is missing\(see)")
        #expect(
            usage("pot", "plant", "--nope")
                == "lenticular pot plant: there is no option '--nope'\(see)")
        #expect(
            usage("pot", "plant", "-x") == "lenticular pot plant: there is no option '-x'\(see)")
        #expect(
            usage("pot", "plant", "--deep=1")
                == "lenticular pot plant: --deep takes no value\(see)")
        #expect(
            usage("pot", "plant", "--label")
                == "lenticular pot plant: --label needs a value, TEXT\(see)")
        #expect(
            usage("pot", "plant", "--soil=1", "--soil=2")
                == "lenticular pot plant: --soil is given twice\(see)")
        #expect(
            usage("version", "x")
                == "lenticular version: 'x' is one argument too many; see lenticular version --help"
        )
    }

    @Test("What stands where one of some words may, and is none of them, is refused by these words")
    func choices() throws {
        let parser = CommandLineParser(commands: Command.schemas)
        #expect {
            _ = try parser.parse(["schema", "check", "Garden", "staging", "garden.ckdb"])
        } throws: { error in
            "\(error)"
                == "lenticular schema check: ENVIRONMENT is development or production, not 'staging'; "
                + "see lenticular schema check --help"
        }
    }

    @Test("A refusal shows no control characters of an argument")
    func refusalsAreOneCleanLine() throws {
        let text = try #require(usage("a\n\u{1b}[31mred"))
        #expect(text == "lenticular: there is no 'a??[31mred' here; see lenticular --help")
    }

    @Test("Help is there on every level")
    func helpOnEveryLevel() throws {
        for words in [[], ["pot"], ["pot", "plant"]] {
            guard case .help(let asked) = try Self.parser.parse(words + ["--help"]) else {
                Issue.record("no help after \(words)")
                continue
            }
            #expect(asked == words)
            let text = CommandHelp(commands: [Self.echo, .version]).text(for: asked)
            #expect(text.contains("pot plant"))
            #expect(text.hasPrefix("usage: lenticular"))
        }
    }
}
