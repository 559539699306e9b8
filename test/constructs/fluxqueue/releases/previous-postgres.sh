#!/bin/sh
# Starts the queue's Postgres after any interruption of the last start. It creates the data directory next to its final
# path, adds a marker last, and moves it when it is complete. Each start sets the password of the Secret.
# The arguments are options of the server.
set -eu
umask 077
: "${PGDATA:?}" "${POSTGRES_USER:?}" "${POSTGRES_DB:?}" "${POSTGRES_PASSWORD_FILE:?}"

new=$PGDATA.new
marker=fluxqueue-complete
# Process 1 ignores these signals by default; the script can stop between any two steps.
trap 'exit 143' INT TERM

say() { echo "fluxqueue: $*" >&2; }

# Runs statements from standard input in a single-user server, which needs no password. Without a pipeline: the lock file
# of the last start names process 1, and Postgres considers that process alive unless it is its own parent.
sql() { postgres --single -D "$1" -c exit_on_error=on "$2" >/dev/null; }

# Allows logins with the password from any host. Without this rule the server accepts no network login.
NETWORK_RULE='host all all all scram-sha-256'
rules() { grep -q '^host all all all ' "$1/pg_hba.conf" 2>/dev/null; }

create_database() {
  # A connection shows whether it exists.
  if sql "$1" "$POSTGRES_DB" </dev/null 2>/dev/null; then return; fi
  sql "$1" template1 <<SQL
CREATE DATABASE "$POSTGRES_DB";
SQL
}

mark() {
  : >"$1/$marker"
  sync "$1/pg_hba.conf" "$1/$marker" "$1"
}

# The image has one directory for each major version; a newer image must not start with an empty database.
check_major_version() {
  for other in "${PGDATA%/*/*}"/*/"${PGDATA##*/}"; do
    if [ ! -e "$other/PG_VERSION" ]; then continue; fi
    say "$other has the database of another major version; run its image again, or pg_upgrade it to $PGDATA"
    exit 1
  done
}

create_directory() {
  check_major_version
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

# An earlier version created it without a marker. It is complete, and may have data, if network logins are allowed.
adopt_directory() {
  chmod 00700 "$PGDATA"
  if rules "$PGDATA"; then
    say "using the existing database in $PGDATA"
    create_database "$PGDATA"
    mark "$PGDATA"
  else
    aside=$PGDATA.half-made-$(date +%Y%m%d%H%M%S)
    say "$PGDATA is incomplete and is moved to $aside; remove that directory when it is not needed"
    mv -T "$PGDATA" "$aside"
  fi
}

set_password() {
  # SQL escapes a quote by doubling it.
  password=$(sed "s/'/''/g" "$POSTGRES_PASSWORD_FILE")
  sql "$PGDATA" "$POSTGRES_DB" <<SQL
ALTER ROLE "$POSTGRES_USER" PASSWORD '$password';
SQL
}

# A pod that was force-deleted may still run while the next one starts. Postgres does not notice a server in another
# container: it compares process ids and shared memory, which are different there. All its processes inherit the lock.
lock_volume() {
  exec 9>"${PGDATA%/*/*}/fluxqueue.lock"
  if flock -n 9; then return; fi
  say "waiting for the server of an earlier pod that still runs on this volume"
  # A trap runs between two attempts.
  until flock -w 2 9; do :; done
}

lock_volume
if [ ! -e "$PGDATA/$marker" ] && [ -n "$(ls -A "$PGDATA" 2>/dev/null)" ]; then adopt_directory; fi
if [ ! -e "$PGDATA/$marker" ]; then
  create_directory
else
  # The kubelet can add group permissions to the volume at each mount, and Postgres rejects such a directory.
  chmod 00700 "$PGDATA"
  set_password
fi
trap - INT TERM
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
