#!/usr/bin/env bash
# sandbox.bash FOLDER COMMAND…: runs a command as on a machine of its own: the network is its loopback, so every
# port is free, and what it writes below /etc, /mnt, /usr/share/doc and /var/lib goes with it. Wants a folder that it may fill.
set -euo pipefail
export MACHINE=$1
shift
mkdir "$MACHINE"/{etc,etc-work,doc,doc-work,home,lib}
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$MACHINE/etc,workdir=$MACHINE/etc-work" /etc
mount -t overlay overlay -o "lowerdir=/usr/share/doc,upperdir=$MACHINE/doc,workdir=$MACHINE/doc-work" /usr/share/doc
mount --bind "$MACHINE/lib" /var/lib
# Another disk.
mount -t tmpfs machine /mnt
ip link set lo up
printf '127.0.0.1 %s\n' sync.example.org mylaptop.local >>/etc/hosts
export PATH=$(cd "$(dirname "$0")/stand-ins" && pwd):$PATH HOME=$MACHINE/home
cd "$MACHINE/home"
exec "$@"
