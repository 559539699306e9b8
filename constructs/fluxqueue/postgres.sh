#!/bin/sh
# Starts the queue's Postgres after any interruption of the last start. It creates the data directory next to its final
# path, adds a marker last, and moves it when it is complete. Each start sets the password of the Secret.
# POSTGRES_USER owns the tables and has no password: it logs in by the Unix socket only, from containers of this pod with the
# same user. RUNTIME_ROLE logs in over TLS with the password; the command migrate of the runtime grants its rights.
# The arguments are options of the server. With REPLACED_MAJOR the data of that major version stays aside, unused, and an empty
# database is created for a restore.
set -eu
umask 077
: "${PGDATA:?}" "${POSTGRES_USER:?}" "${POSTGRES_DB:?}" "${RUNTIME_ROLE:?}" "${CREDENTIALS:?}"

say() { echo "fluxqueue: $*" >&2; }

# Images before 18 keep their data in a volume of their own, which is empty at each start of the pod.
case $PGDATA in
  */[0-9]*/*) ;;
  *)
    say "this image has its data in $PGDATA, without a major version; use an image of Postgres 18 or newer"
    exit 1
    ;;
esac

new=$PGDATA.new
marker=fluxqueue-complete
# Outside the data directory, whose own file an earlier version uses after a downgrade.
hba=${PGDATA%/*/*}/fluxqueue-hba.conf
# Process 1 ignores these signals by default; the script can stop between any two steps.
trap 'exit 143' INT TERM

# Runs statements from standard input in a single-user server, which needs no password. Without a pipeline: the lock file
# of the last start names process 1, and Postgres considers that process alive unless it is its own parent.
sql() { postgres --single -D "$1" -c exit_on_error=on "$2" >/dev/null; }

# The rule of earlier versions: it shows that a directory without the marker is complete, and they use it after a downgrade.
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
    major=${other%/*}
    if [ "${major##*/}" = "${REPLACED_MAJOR:-}" ]; then continue; fi
    say "$other has the database of another major version; run its image again, or follow \"Another major version of Postgres\" in docs/operations.md"
    exit 1
  done
}

create_directory() {
  check_major_version
  rm -rf "$new"
  mkdir -p "$new"
  initdb -D "$new" --username="$POSTGRES_USER" --pwfile="$CREDENTIALS/password" \
    --encoding=UTF8 --auth=scram-sha-256 --data-checksums
  echo "$NETWORK_RULE" >>"$new/pg_hba.conf"
  create_database "$new"
  set_roles "$new"
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

set_roles() {
  # SQL escapes a quote by doubling it.
  password=$(sed "s/'/''/g" "$CREDENTIALS/password")
  sql "$1" "$POSTGRES_DB" <<SQL
DO \$do\$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$RUNTIME_ROLE') THEN CREATE ROLE "$RUNTIME_ROLE"; END IF; END \$do\$;
ALTER ROLE "$RUNTIME_ROLE" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '$password';
ALTER ROLE "$POSTGRES_USER" PASSWORD NULL;
REVOKE ALL ON DATABASE "$POSTGRES_DB" FROM PUBLIC;
GRANT CONNECT ON DATABASE "$POSTGRES_DB" TO "$RUNTIME_ROLE";
SQL
}

# The permissions of the socket's file make its logins those of one user of this pod.
write_hba() {
  echo "local \"$POSTGRES_DB\" \"$POSTGRES_USER\" trust" >"$hba"
  echo "hostssl \"$POSTGRES_DB\" \"$RUNTIME_ROLE\" all scram-sha-256" >>"$hba"
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
  set_roles "$PGDATA"
fi
write_hba
trap - INT TERM
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_permissions=0700 -c hba_file="$hba" \
  -c ssl=on -c ssl_cert_file="$CREDENTIALS/tls.crt" -c ssl_key_file="$CREDENTIALS/tls.key" "$@"
