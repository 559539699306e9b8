#!/bin/sh
# Starts the queue's Postgres, whatever the last start was interrupted by. A data directory is made beside its place,
# gets a marker last, and is moved into its place when it is complete; the password of the Secret is the role's, always.
# Arguments go to the server.
set -eu
umask 077
: "${PGDATA:?}" "${POSTGRES_USER:?}" "${POSTGRES_DB:?}" "${POSTGRES_PASSWORD_FILE:?}"

new=$PGDATA.new
marker=fluxqueue-complete
# Process 1 has no default for them; between two steps is as good a moment to stop as any.
trap 'exit 143' INT TERM

say() { echo "fluxqueue: $*" >&2; }

# Statements from standard input, to a server that nobody else can reach: it asks for no password. No pipeline: the lock
# file of the last start names process 1, and Postgres takes that for alive unless it is its own parent.
sql() { postgres --single -D "$1" -c exit_on_error=on "$2" >/dev/null; }

# From everywhere, with the password. Nobody can log in over the network before this is there.
NETWORK_RULE='host all all all scram-sha-256'
rules() { grep -q '^host all all all ' "$1/pg_hba.conf" 2>/dev/null; }

create_database() {
  # Connecting to it tells whether it is there.
  if sql "$1" "$POSTGRES_DB" </dev/null 2>/dev/null; then return; fi
  sql "$1" template1 <<SQL
CREATE DATABASE "$POSTGRES_DB";
SQL
}

mark() {
  : >"$1/$marker"
  sync "$1/pg_hba.conf" "$1/$marker" "$1"
}

# The image keeps each major version in a folder of its own: a newer image must not begin with an empty one.
refuse_to_leave_behind() {
  for other in "${PGDATA%/*/*}"/*/"${PGDATA##*/}"; do
    if [ ! -e "$other/PG_VERSION" ]; then continue; fi
    say "$other has the database of another major version; run its image again, or pg_upgrade it to $PGDATA"
    exit 1
  done
}

make() {
  refuse_to_leave_behind
  rm -rf "$new"
  mkdir -p "$new"
  initdb -D "$new" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
    --encoding=UTF8 --auth=scram-sha-256 --data-checksums
  echo "$NETWORK_RULE" >>"$new/pg_hba.conf"
  create_database "$new"
  mark "$new"
  mv -T "$new" "$PGDATA"
  sync "$(dirname "$PGDATA")"
}

# Made by an earlier version, without a marker: complete once the network may log in, and never used before that.
take_over() {
  chmod 00700 "$PGDATA"
  if rules "$PGDATA"; then
    say "taking over the database in $PGDATA"
    create_database "$PGDATA"
    mark "$PGDATA"
  else
    aside=$PGDATA.half-made-$(date +%Y%m%d%H%M%S)
    say "$PGDATA was never complete and is moved to $aside; remove that when you like"
    mv -T "$PGDATA" "$aside"
  fi
}

set_password() {
  # Quotes are doubled for SQL.
  password=$(sed "s/'/''/g" "$POSTGRES_PASSWORD_FILE")
  sql "$PGDATA" "$POSTGRES_DB" <<SQL
ALTER ROLE "$POSTGRES_USER" PASSWORD '$password';
SQL
}

if [ ! -e "$PGDATA/$marker" ] && [ -n "$(ls -A "$PGDATA" 2>/dev/null)" ]; then take_over; fi
if [ ! -e "$PGDATA/$marker" ]; then
  make
else
  # Some volumes are opened to the pod's group at each mount, and Postgres refuses such a folder.
  chmod 00700 "$PGDATA"
  set_password
fi
trap - INT TERM
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
