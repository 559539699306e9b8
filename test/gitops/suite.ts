/** Jest blocks that need the engines of GitOps; they are skipped with a message where nobody has built them. */
import { Engine, enginesBuilt } from './engines';

export interface Engines {
  readonly flux: Engine;
  readonly argo: Engine;
}

export const NOT_BUILT = 'the engines of GitOps are not built: npm run gitops builds them, with Go';

/** `engines` works inside tests only. The engines know no cluster: they judge what they are given. */
export function describeEngines(name: string, tests: (engines: () => Engines) => void): void {
  if (!enginesBuilt()) {
    process.stderr.write(`skipped: "${name}" (${NOT_BUILT})\n`);
    describe.skip(name, () => tests(() => ({}) as Engines));
    return;
  }
  describe(name, () => {
    let engines: Engines;
    beforeAll(async () => {
      engines = { flux: await Engine.start('flux'), argo: await Engine.start('argo') };
    });
    afterAll(async () => {
      await engines?.flux.stop();
      await engines?.argo.stop();
    });
    tests(() => engines);
  });
}
