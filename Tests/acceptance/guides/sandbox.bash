#!/usr/bin/env bash
# sandbox.bash FOLDER COMMAND…: runs a command as on a machine of its own: the network is its loopback, so every
# port is free, and what it writes below /etc, /mnt and /var/lib goes with it. Wants a folder that it may fill.
set -euo pipefail
export MACHINE=$1
shift
mkdir "$MACHINE"/{etc,work,home,lib}
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$MACHINE/etc,workdir=$MACHINE/work" /etc
mount --bind "$MACHINE/lib" /var/lib
# Another disk.
mount -t tmpfs machine /mnt
ip link set lo up
printf '127.0.0.1 %s\n' sync.example.org mylaptop.local >>/etc/hosts
export PATH=$(cd "$(dirname "$0")/stand-ins" && pwd):$PATH HOME=$MACHINE/home
cd "$MACHINE/home"
exec "$@"
