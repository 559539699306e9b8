/** Programs in Go that tests run beside the code: each is built once from its module into the cache. */
import { type StdioOptions, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds. promtool takes 4 minutes on 2 cores. */
const MOST_TIME = 900_000;

export class GoProgram {
  /** With its version, as `go install` takes it. */
  readonly module: string;
  private readonly folder: string;

  /** @param path of the package, whose last part is the name of the program @param version with its `v` */
  constructor(
    private readonly path: string,
    version: string,
    private readonly name = path.slice(path.lastIndexOf('/') + 1),
  ) {
    this.module = `${path}@${version}`;
    const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
    this.folder = join(cache, 'cdk8s-fluxqueue', `${name}-${version.slice(1)}`);
  }

  /** The program, if it was built. */
  get built(): string | undefined {
    const program = join(this.folder, this.name);
    return existsSync(program) ? program : undefined;
  }

  /** The program, which is built if it is not there; undefined without Go, or without the module. */
  build(stdio: StdioOptions = 'ignore'): string | undefined {
    if (this.built !== undefined) return this.built;
    process.stderr.write(`building ${this.name} (once, some minutes)\n`);
    mkdirSync(this.folder, { recursive: true });
    // `go install` refuses modules that exclude versions of others, so the program is built as a part of a new module.
    const module = mkdtempSync(join(tmpdir(), 'go-program-'));
    const env = { ...process.env, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
    const go = (...args: readonly string[]) =>
      spawnSync('go', args, { cwd: module, env, stdio, timeout: MOST_TIME }).status === 0;
    const part = join(module, this.name);
    const isBuilt =
      go('mod', 'init', 'build') &&
      go('get', this.module) &&
      go('build', '-trimpath', '-ldflags', '-s -w', '-o', part, this.path);
    if (isBuilt) this.keep(part);
    rmSync(module, { recursive: true });
    return this.built;
  }

  /** A build that is interrupted leaves no part of a program under its name. */
  private keep(part: string): void {
    const copy = join(this.folder, `.${this.name}-${process.pid}`);
    copyFileSync(part, copy);
    renameSync(copy, join(this.folder, this.name));
  }

  /** For tests: the program, or undefined after a line that says that the test is skipped. */
  buildOrSkip(): string | undefined {
    const program = this.build();
    if (program === undefined)
      process.stderr.write(`skipped: ${this.name} (go build ${this.module} failed)\n`);
    return program;
  }
}
