/// What shells ask to complete a command line of the program, made from the declarations of commands.
struct CommandCompletion {
    enum Shell: String, CaseIterable { case bash, zsh, fish }

    private let commands: [Command]

    init(commands: [Command]) { self.commands = commands }

    func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// What may come next, for each beginning of words that are no options; the longest beginnings first.
    private var nexts: [(words: String, next: [(word: String, summary: String)])] {
        var found: [[String]: [(word: String, summary: String)]] = [:]
        for command in commands {
            for count in command.words.indices {
                let word = command.words[count]
                let start = Array(command.words[..<count])
                let isLast = count == command.words.count - 1
                guard !(found[start] ?? []).contains(where: { $0.word == word }) else { continue }
                found[start, default: []].append((word, isLast ? command.summary : ""))
            }
            found[command.words, default: []] += command.options.map {
                ("--\($0.name)", $0.summary)
            }
        }
        found[[], default: []].append(("help", "tell more of a command"))
        return found.sorted { ($1.key.count, $0.key.joined()) < ($0.key.count, $1.key.joined()) }
            .map { ($0.key.joined(separator: " "), $0.value) }
    }

    /// The cases of a shell's `case`, for a line of words that begins with a space.
    private func cases(_ action: (String) -> String) -> String {
        nexts.map { words, next in
            let pattern = words.isEmpty ? "*" : "\" \(words)\"*"
            return "        \(pattern)) \(action(next.map(\.word).joined(separator: " "))) ;;\n"
        }.joined()
    }

    private var bash: String {
        """
        # Completion of lenticular for bash, as `lenticular completion bash` prints it.
        _lenticular() {
            local line="" word words
            for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                [[ $word == -* ]] || line+=" $word"
            done
            case "$line" in
        \(cases { "words=\"\($0)\"" })    esac
            COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
        }
        complete -o default -F _lenticular lenticular
        """
    }

    private var zsh: String {
        """
        #compdef lenticular
        # Completion of lenticular for zsh, as `lenticular completion zsh` prints it.
        _lenticular() {
            local line="" word
            local -a next
            for word in "${(@)words[2,CURRENT-1]}"; do
                [[ $word == -* ]] || line+=" $word"
            done
            case "$line" in
        \(cases { "next=(\($0))" })    esac
            compadd -- $next || _files
        }
        compdef _lenticular lenticular
        """
    }

    private var fish: String {
        let lines = nexts.flatMap { words, next in
            next.map { word, summary in
                let condition = "__lenticular_after '\(words)'"
                let isOption = word.hasPrefix("--")
                return "complete -c lenticular -n \"\(condition)\" "
                    + (isOption ? "-l \(word.dropFirst(2))" : "-f -a \(word)")
                    + (summary.isEmpty ? "" : " -d '\(summary.replacing("'", with: "\\'"))'")
            }
        }
        return """
            # Completion of lenticular for fish, as `lenticular completion fish` prints it.
            function __lenticular_after
                set -l words (commandline -opc)[2..]
                set words (string match -v -- '-*' $words)
                test "$words" = "$argv[1]"; or string match -q -- "$argv[1] *" "$words"
            end

            """ + lines.joined(separator: "\n")
    }
}
