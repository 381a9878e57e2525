#!/usr/bin/env bash
# Runs what README.md tells a newcomer to run, on a folder and port of its own, and compares the answer.
set -euo pipefail
source "$(dirname "$0")/server.bash"
cd "$(dirname "$0")/../.."

# block KIND WORD: the first block of that kind which has the word.
block() {
    awk -v kind="\`\`\`$1" -v word="$2" '
        $0 == kind { inside = 1; text = ""; next }
        $0 == "```" { if (inside && index(text, word)) { printf "%s", text; exit }; inside = 0; next }
        inside { text = text $0 "\n" }' README.md
}

serve=$(block sh serve)
[ "$serve" = 'make serve' ] || fail "README's command to serve is: $serve"
[ "$(block sh test)" = 'make test' ] || fail "README's command to test is missing"

export LENTICULAR_DATA=$folder/data LENTICULAR_LISTEN=127.0.0.1:0
# In a group of its own: make and the server under it end together.
set -m
# Made here: the background shell may come to it only after the first look into them.
: >"$folder/log" >"$folder/errors"
eval "$serve" >"$folder/log" 2>"$folder/errors" &
server=$!
set +m
trap 'kill -TERM -- "-$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 6000); do
    base=$(sed -n 's/.*"message":"serving".*"listen":"\([^",]*\)[",].*/http:\/\/\1/p' "$folder/log")
    [ -z "$base" ] || break
    kill -0 "$server" 2>/dev/null || fail "make serve has ended: $(tail -5 "$folder/log" "$folder/errors")"
    sleep 0.1
done
[ -n "$base" ] || fail 'make serve does not say where it listens'

API_TOKEN=$(sed -n 's/^ *API token *//p' "$folder/log" "$folder/errors" | head -1)
WEB_TOKEN=$(sed -n 's/^ *web token *//p' "$folder/log" "$folder/errors" | head -1)
[ -n "$API_TOKEN" ] && [ -n "$WEB_TOKEN" ] || fail 'make serve prints no tokens'
export API_TOKEN WEB_TOKEN

# What differs from run to run is made the same on both sides.
masked() {
    tr -d '\n' | sed -E 's/"timestamp":[0-9]+/"timestamp":0/g; s/_[0-9a-f]{32}/_user/g
        s/"syncToken":"[^"]*"/"syncToken":"token"/g'
}

# Each answer on a line of its own.
curl() {
    command curl --silent --show-error --max-time 120 "$@"
    echo
}

requests=$(block sh curl)
wanted=$(block json '"records"' | masked)
answer=$(eval "${requests//http:\/\/127.0.0.1:8080/$base}" | tail -1 | masked)
[ "$answer" = "$wanted" ] || fail "README's last request is answered
$answer
and README says
$wanted"

# The link of the share that README makes is a page with its title for whoever has it.
eval "$(grep -E '^[a-z]+=' <<<"${requests//http:\/\/127.0.0.1:8080/$base}")"
shared() {
    eval "$(block sh cloudkit.share)" | sed -n 's/.*"shortGUID":"\([^"]*\)".*/\1/p'
}
guid=$(shared)
[ -n "$guid" ] || fail "README's share has no shortGUID"
page=$(curl "$base/share/$guid")
grep --quiet '<h2>Tea</h2>' <<<"$page" || fail "the page of README's share is: $page"

# The commands that the server itself prints work when pasted.
pasted=$(sed -n "s/^ *\(curl .*\)/\1/p" "$folder/log" "$folder/errors")
[ "$(wc -l <<<"$pasted")" = 3 ] || fail "these are not three commands: $pasted"
answer=$(eval "$pasted" | tail -1)
for word in '"value":"Hello"' '"value":"Tea"' '"syncToken":'; do
    grep --fixed-strings --quiet "$word" <<<"$answer" || fail "the printed commands are answered $answer"
done

# README's note is shared after those commands, too: by then its change has another tag.
curl "$notes/records/modify?$tokens" -d '{"zoneID":{"zoneName":"Notes"},"operations":[
{"operationType":"forceDelete","record":{"recordName":"share-1"}},
{"operationType":"forceDelete","record":{"recordName":"note-1"}}]}' >"$folder/deleted"
eval "${requests//http:\/\/127.0.0.1:8080/$base}" >"$folder/again"
guid=$(shared)
[ -n "$guid" ] || fail "README's share conflicts after the printed commands: $(cat "$folder/again")"

# That build has one engine, and says which build has the other.
refused=$(LENTICULAR_STORAGE_ENGINE=postgres LENTICULAR_STORAGE_POSTGRES_URL=postgresql://u@localhost/app \
    .build/release/lenticular config check 2>&1) && fail 'a build without PostgreSQL takes its settings'
for words in 'storage.engine: this build has no postgres' '--traits ApplePush,PostgreSQL'; do
    grep --fixed-strings --quiet -e "$words" <<<"$refused" || fail "a build without PostgreSQL says $refused"
done

# What README says of the example page is where that is; the guide of that page drives it.
pages=$(block sh http.server)
[ -f "$(sed 's/.*--directory //' <<<"$pages")/shopping.html" ] ||
    fail 'the example page is missing'
