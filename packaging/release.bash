# What every package of a release has in common; sourced. Says the version, the architecture, and the moment that all
# files in a package are of: that of the commit, so that the same binary gives the same package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

binary=${SERVER_BINARY:-.build/release/lenticular}
[ -x "$binary" ] || fail "$binary is not built"
version=${PACKAGE_VERSION:-$(<VERSION)}
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
packages=.build/packages
mkdir -p "$packages"

# stripped FILE: the binary without what only debuggers read.
stripped() {
    strip --strip-all -o "$1" "$binary"
    chmod 755 "$1"
}

# completions BASH ZSH FISH: files for the three shells, by what the program says itself.
completions() {
    mkdir -p "$(dirname "$1")" "$(dirname "$2")" "$(dirname "$3")"
    "$binary" completion bash >"$1"
    "$binary" completion zsh >"$2"
    "$binary" completion fish >"$3"
}

# settle FOLDER: everything below it is of the release's moment, and may be read by all.
settle() {
    chmod -R u=rwX,go=rX "$1"
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}
