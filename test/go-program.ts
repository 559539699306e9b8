/** Programs in Go that tests run beside the code: each is built once from its module into the cache. */
import { type StdioOptions, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds. */
const MOST_TIME = 300_000;

export class GoProgram {
  /** With its version, as `go install` takes it. */
  readonly module: string;
  private readonly folder: string;

  /** @param path of the package, whose last part is the name of the program @param version with its `v` */
  constructor(
    path: string,
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
    mkdirSync(this.folder, { recursive: true });
    const env = { ...process.env, GOBIN: this.folder, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
    const options = ['-trimpath', '-ldflags', '-s -w'];
    spawnSync('go', ['install', ...options, this.module], { env, stdio, timeout: MOST_TIME });
    return this.built;
  }

  /** For tests: the program, or undefined after a line that says that the test is skipped. */
  buildOrSkip(): string | undefined {
    const program = this.build();
    if (program === undefined)
      process.stderr.write(`skipped: ${this.name} (go install ${this.module} failed)\n`);
    return program;
  }
}
