#!/usr/bin/env bash
# One server on TLS and a Unix socket: curl reaches both, older TLS is refused, a new
# certificate is taken up on SIGHUP without a restart, and a second server refuses the same folder.
set -euo pipefail
source "$(dirname "$0")/server.bash"
cd "$folder"

# certificate DAYS: a new key and certificate for localhost, in place of the ones before.
certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$1" \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout key.pem -out certificate.pem 2>/dev/null
}

# shown: the fingerprint of the certificate that the server shows.
shown() {
    openssl s_client -connect "$secure" -servername localhost </dev/null 2>/dev/null |
        openssl x509 -noout -fingerprint -sha256
}

certificate 2
cat >lenticular.json5 <<EOF
{
    // Comments and trailing commas are JSON5.
    listen: ["127.0.0.1:0", "unix:$folder/http.sock",],
    tls: { certificateFile: "$folder/certificate.pem", privateKeyFile: "$folder/key.pem" },
}
EOF
"$binary" config check --config lenticular.json5 --data data >/dev/null
# Made here: the background shell may come to it only after the first look into them.
: >log >errors
"$binary" serve --config lenticular.json5 --data data >log 2>errors &
server=$!
for _ in $(seq 1200); do
    secure=$(sed -n 's/.*"message":"serving".*"listen":"\([^", ]*\)[", ].*/\1/p' log)
    [ -z "$secure" ] || break
    kill -0 "$server" 2>/dev/null || fail "the server has stopped: $(<errors)"
    sleep 0.05
done
[ -n "$secure" ] || fail "the server does not say where it listens: $(<log)"

port=${secure##*:}
ask=(curl --silent --show-error --fail --max-time 120)
[ "$("${ask[@]}" --cacert certificate.pem "https://localhost:$port/healthz")" = ok ] ||
    fail 'no answer over TLS'
[ "$("${ask[@]}" --unix-socket http.sock http://localhost/readyz)" = ready ] ||
    fail 'no answer over the Unix socket'
"${ask[@]}" --cacert certificate.pem --tls-max 1.2 "https://localhost:$port/healthz" >/dev/null ||
    fail 'TLS 1.2 is refused'
if openssl s_client -connect "$secure" -tls1_1 -cipher ALL:@SECLEVEL=0 </dev/null >/dev/null 2>&1; then
    fail 'TLS 1.1 is let in'
fi

before=$(shown)
[ "$before" = "$(openssl x509 -in certificate.pem -noout -fingerprint -sha256)" ] ||
    fail 'another certificate is shown'
certificate 3
kill -HUP "$server"
wanted=$(openssl x509 -in certificate.pem -noout -fingerprint -sha256)
for _ in $(seq 600); do
    [ "$(shown)" != "$wanted" ] || break
    sleep 0.05
done
[ "$(shown)" = "$wanted" ] || fail 'the new certificate is not shown after SIGHUP'

if "$binary" serve --data data --listen 127.0.0.1:0 >/dev/null 2>second; then
    fail 'a second server starts on the same folder'
fi
[ "$(wc -l <second)" = 1 ] || fail "a second server says: $(<second)"

[ "$(stat --format %a data)" = 700 ] || fail 'the data folder is open to others'
stop_server
