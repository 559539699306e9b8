// Own cluster: the engines have users of their own.
/** The reduced form of `npm run gitops`: a team's repository by both engines at once, with the edits that start and stop Jobs. */
import { describeOwnCluster } from '../cluster/suite';
import { enginesBuilt } from './engines';
import { FirstSync } from './first-sync';
import { Findings, TeamLife } from './scenario';
import { NOT_BUILT } from './suite';
import { EDITS } from './team';
import { CLUSTER, World } from './world';

if (enginesBuilt())
  describeOwnCluster(
    'a team in Git',
    (getCluster) => {
      let world: World;
      beforeAll(async () => {
        world = await World.on(getCluster(), 'policies');
      });
      afterAll(() => world?.stop());

      test('has no more than its quota from its first sync on', async () => {
        const findings = new Findings(() => undefined);
        for (const way of world.ways)
          await new FirstSync(getCluster(), way, `sync-${way.name}`, findings).live();
        expect(findings.all).toEqual([]);
      });

      test('lives by Flux CD and by Argo CD as it does by hand', async () => {
        const findings = new Findings(() => undefined);
        const [fluxCd, argoCd] = world.ways;
        const edits = EDITS.slice(0, 4);
        await Promise.all(
          [fluxCd!, argoCd!].map((way) =>
            new TeamLife(getCluster(), world.engines, way, `team-${way.name}`, findings).live(edits),
          ),
        );
        expect(findings.all).toEqual([]);
        expect(findings.objects).toBe(22);
      });
    },
    CLUSTER,
  );
else
  test.skip('a team in Git', () => {
    process.stderr.write(`${NOT_BUILT}\n`);
  });
