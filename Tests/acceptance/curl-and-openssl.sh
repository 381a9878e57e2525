#!/usr/bin/env bash
# What an administrator does with nothing but curl and openssl: makes a container and a key, saves and
# reads a record of the public database with signed requests, and is refused with a wrong signature.
set -euo pipefail
source "$(dirname "$0")/server.bash"
cd "$folder"
start_server

container=iCloud.org.example.Almanac
lenticular container create "$container" >/dev/null

openssl ecparam -name prime256v1 -genkey -noout -out key.pem
openssl ec -in key.pem -pubout -out public.pem 2>/dev/null
key_id=$(lenticular server-key add "$container" development --public-key public.pem --name almanac \
    --json | text keyID)
[[ $key_id =~ ^[0-9a-f]{64}$ ]] || fail "the key's ID is $key_id"

# signed KEY-FILE TARGET BODY: sends one signed request; the status goes to the file `status`, the
# answer to standard output.
signed() {
    local date hash signature
    date=${signed_at:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}
    hash=$(printf '%s' "$3" | openssl dgst -sha256 -binary | openssl base64 -A)
    signature=$(printf '%s' "$date:$hash:$2" | openssl dgst -sha256 -sign "$1" | openssl base64 -A)
    curl --silent --show-error --output answer --write-out '%{http_code}' --max-time 120 \
        --header "X-Apple-CloudKit-Request-KeyID: $key_id" \
        --header "X-Apple-CloudKit-Request-ISO8601Date: $date" \
        --header "X-Apple-CloudKit-Request-SignatureV1: $signature" \
        --data-binary "${sent_body-$3}" "$base$2" >status
    cat answer
}

# answered STATUS WORD…: the last answer has this status and each of these pieces of text.
answered() {
    local status=$1
    shift
    [ "$(<status)" = "$status" ] || fail "status $(<status) and not $status: $(<answer)"
    local word
    for word in "$@"; do
        grep --fixed-strings --quiet -- "$word" answer || fail "no $word in: $(<answer)"
    done
}

path=/database/1/$container/development/public/records
create='{"operations":[{"operationType":"create","record":{"recordType":"Tide","recordName":"tide-1",
"fields":{"harbour":{"value":"Łeba, 東京"},"height":{"value":-1.25},"at":{"value":1700000000123,"type":"TIMESTAMP"}}}}]}'
lookup='{"records":[{"recordName":"tide-1"},{"recordName":"tide-2"}]}'

signed key.pem "$path/modify" "$create" >/dev/null
answered 200 '"recordName":"tide-1"' '"recordType":"Tide"' '"recordChangeTag":"' '"deleted":false' \
    '"ownerRecordName":"_defaultOwner"'

signed key.pem "$path/lookup" "$lookup" >/dev/null
answered 200 '"harbour":{"value":"Łeba, 東京","type":"STRING"}' \
    '"height":{"value":-1.25,"type":"DOUBLE"}' \
    '"at":{"value":1700000000123,"type":"TIMESTAMP"}' \
    '"recordName":"tide-2"' '"serverErrorCode":"NOT_FOUND"'

# The query belongs to what is signed, as clients send it.
signed key.pem "$path/lookup?ckjsVersion=2.6.1" "$lookup" >/dev/null
answered 200 '"recordName":"tide-1"'

signed key.pem "$path/modify" "$create" >/dev/null
answered 200 '"serverErrorCode":"CONFLICT"' 'record to insert already exists'

refused='"serverErrorCode":"AUTHENTICATION_FAILED"'
openssl ecparam -name prime256v1 -genkey -noout -out other.pem
signed other.pem "$path/lookup" "$lookup" >/dev/null
answered 401 "$refused"
sent_body='{"records":[{"recordName":"tide-3"}]}' signed key.pem "$path/lookup" "$lookup" >/dev/null
answered 401 "$refused"
signed_at=$(date -u -d '-11 minutes' +%Y-%m-%dT%H:%M:%SZ) \
    signed key.pem "$path/lookup" "$lookup" >/dev/null
answered 401 "$refused"
signed key.pem "/database/1/$container/development/private/records/lookup" "$lookup" >/dev/null
answered 401 "$refused"
signed key.pem "/database/1/$container/production/public/records/lookup" "$lookup" >/dev/null
answered 401 "$refused"

# A key that is revoked is refused as soon as the command has ended.
lenticular server-key revoke "$key_id" >/dev/null
signed key.pem "$path/lookup" "$lookup" >/dev/null
answered 401 "$refused"

stop_server
lenticular check --json | grep --quiet '"ok":true' || fail 'check finds problems'
