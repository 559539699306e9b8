/** The prop in the policies; test/admission/grace.test.ts has their effect. */

import { Duration } from 'cdk8s';
import { WORKLOAD_KINDS } from '../../../constructs/api/workload-kinds';
import { stackObjects } from '../manifests';

const CODE = 'FLUXQ_GRACE_PERIOD';

test.each(['policies', 'webhook'] as const)(
  'the longest grace period is that of the prop in each guard, with %s',
  (admission) => {
    const kubernetesVersion = '1.37.1';
    const texts = (props: object) =>
      stackObjects({ admission, kubernetesVersion, ...props })
        .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
        .map((policy) => [policy.metadata.name, JSON.stringify(policy)] as const)
        .filter(([, text]) => text.includes(CODE));
    const byDefault = texts({});
    expect(byDefault.map(([name]) => name)).toEqual([
      'fluxqueue-guard-job-settings',
      'fluxqueue-guard-pod-settings',
      ...WORKLOAD_KINDS.map(({ plural }) => `fluxqueue-guard-${plural}-settings`),
      'fluxqueue-guard-leaderworkersets',
      'fluxqueue-guard-grace',
      'fluxqueue-guard-grace-of-deletions',
    ]);
    for (const [, text] of byDefault) expect(text).toContain('must be at most 3600,');
    for (const [, text] of texts({ maxGracePeriod: Duration.minutes(10) })) {
      expect(text).toContain('> 600');
      expect(text).toContain('must be at most 600,');
      expect(text).not.toContain('must be at most 3600,');
    }
  },
);
