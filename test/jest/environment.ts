/** Jest's environment for Node, in which suites can share control planes (tes../cluster/shared). */
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';
import type { SharedPool } from '../cluster/shared/lease';

export default class Environment extends NodeEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    // Loaded with the first use only, because most suites have no cluster; tsx compiles what Jest does not run itself.
    const pool = () =>
      (require('tsx/cjs/api') as typeof import('tsx/cjs/api')).require(
        '../cluster/shared/pool.ts',
        __filename,
      ) as SharedPool;
    const shared: SharedPool = {
      take: (name) => pool().take(name),
      giveBack: (name) => pool().giveBack(name),
    };
    Object.assign(this.global, { sharedClusters: shared });
  }
}
