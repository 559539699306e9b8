#!/bin/sh
# Dumps the tables of the queue to a file in FOLDER, and keeps the newest KEEP dumps. An incomplete dump never has the name
# of a dump, and is removed by the next run. With FIRST it dumps only if FOLDER has no dump: those of an earlier installation
# must not make way for it. libpq reads the address and the login from its own variables.
set -eu
umask 077
: "${FOLDER:?}"
if [ -n "${FIRST:-}" ] && ls "$FOLDER"/fluxqueue-*.dump >/dev/null 2>&1; then
  echo 'fluxqueue: there is a dump' >&2
  exit 0
fi

name=fluxqueue-$(date -u +%Y%m%dT%H%M%SZ).dump
rm -f "$FOLDER"/*.part
pg_dump --format=custom --schema=fluxqueue --no-owner --lock-wait-timeout=60s --file="$FOLDER/$name.part"
# Fails for a file that pg_restore cannot read.
pg_restore --list "$FOLDER/$name.part" >/dev/null
sync "$FOLDER/$name.part"
mv "$FOLDER/$name.part" "$FOLDER/$name"
echo "fluxqueue: wrote $name, $(wc -c <"$FOLDER/$name") bytes" >&2

# The names sort by time.
set -- "$FOLDER"/fluxqueue-*.dump
while [ $# -gt "${KEEP:-$#}" ]; do
  rm "$1"
  shift
done
