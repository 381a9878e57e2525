#!/usr/bin/env bash
# What a team does with a schema under version control: development grows it, the file is exported, checked
# and deployed, production takes records then, and drift is found.
set -euo pipefail
source "$(dirname "$0")/server.bash"
cd "$folder"
start_server

container=iCloud.org.example.Garden
lenticular container create "$container" >/dev/null
lenticular user create ann@example.org >/dev/null
for environment in development production; do
    api=$(lenticular api-token create "$container" "$environment" --json | text apiToken)
    web=$(lenticular web-token create "$container" "$environment" ann@example.org --json |
        text webAuthToken)
    printf 'ckAPIToken=%s&ckWebAuthToken=%s' "$api" "$web" >"$environment"
done

# save ENVIRONMENT FIELDS: creates a plant; the answer to standard output.
save() {
    curl --silent --show-error --max-time 120 \
        "$base/database/1/$container/$1/private/records/modify?$(<"$1")" \
        --data-binary "{\"operations\":[{\"operationType\":\"create\",\"record\":{\"recordType\":\"Plant\",
            \"fields\":$2}}]}"
}

# has TEXT WORD: the text contains the word.
has() {
    grep --fixed-strings --quiet -- "$2" <<<"$1" || fail "no $2 in: $1"
}

has "$(save development '{"name":{"value":"Mint"}}')" '"recordChangeTag"'
has "$(save production '{"name":{"value":"Mint"}}')" "lenticular schema deploy $container"

lenticular schema export "$container" garden.ckdb >/dev/null
lenticular schema check "$container" garden.ckdb >/dev/null || fail 'the export differs from the schema'
if lenticular schema check "$container" production garden.ckdb >drift; then fail 'no drift is found'; fi
has "$(<drift)" '+ type Plant'

if lenticular schema deploy "$container" >shown 2>why; then fail 'a deployment needs no --yes'; fi
has "$(<shown)" '+ field Plant.name STRING QUERYABLE SEARCHABLE SORTABLE'
has "$(<why)" '--yes'
lenticular schema deploy "$container" --yes >/dev/null
lenticular schema check "$container" production garden.ckdb >/dev/null || fail 'production drifts'
has "$(save production '{"name":{"value":"Mint"}}')" '"recordChangeTag"'

has "$(save development '{"height":{"value":3}}')" '"recordChangeTag"'
if lenticular schema check "$container" garden.ckdb >drift; then fail 'no drift is found'; fi
has "$(<drift)" '- field Plant.height INT64'
if lenticular schema import "$container" garden.ckdb 2>why; then fail 'records lose a field'; fi
has "$(<why)" '- field Plant.height INT64 QUERYABLE SORTABLE (in 1 records)'

lenticular schema reset "$container" --yes >/dev/null
lenticular schema check "$container" garden.ckdb >/dev/null || fail 'the reset has left something'
has "$(lenticular schema history "$container")" 'lenticular schema reset'

stop_server
lenticular check --json | grep --quiet '"ok":true' || fail 'check finds problems'
