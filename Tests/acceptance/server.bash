# To be sourced: a server with a folder and a port of its own, which ends with the script.

binary=${SERVER_BINARY:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.build/release/lenticular}
folder=$(mktemp --directory)
server=
base=

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

lenticular() {
    "$binary" "$@" --data "$folder/data"
}

# text KEY: the value of a key, a string without escapes, in the JSON on standard input.
text() {
    sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

# Starts the server on a port that the system chooses; sets `base` to where it listens.
start_server() {
    # Made here: the background shell may come to it only after the first look into them.
    : >"$folder/log" >"$folder/errors"
    "$binary" serve --data "$folder/data" --listen 127.0.0.1:0 "$@" \
        >"$folder/log" 2>"$folder/errors" &
    server=$!
    local tries
    for tries in $(seq 1200); do
        base=$(sed -n 's/.*"message":"serving".*"listen":"\([^",]*\)[",].*/http:\/\/\1/p' "$folder/log")
        [ -z "$base" ] || return 0
        kill -0 "$server" 2>/dev/null || fail "the server has stopped: $(<"$folder/errors")"
        sleep 0.05
    done
    fail "the server does not say where it listens: $(<"$folder/log")"
}

stop_server() {
    kill -TERM "$server"
    wait "$server" || fail "the server ended with $?"
    server=
}

clean_up() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT
