/** A complete Postgres with the programs for dumps, which the server of the tests does not have. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NEEDED = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];
/** Folders of Debian's packages. */
const DEBIAN = '/usr/lib/postgresql';

/** Folder with `bin/` of a Postgres of this machine that can dump; undefined if there is none. */
export function completePostgres(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, '..'));
  const packaged = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((major) => join(DEBIAN, major)) : [];
  return [...onPath, ...packaged].find((folder) =>
    NEEDED.every((program) => existsSync(join(folder, 'bin', program))),
  );
}
