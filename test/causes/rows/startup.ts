/** Pods that are bound or created but do not run: the FluxJob is never Running, and says what it waits for. */
import type { Job } from '../../../runtime/kubernetes/types';
import { job, pod, sharedVolume, withClaim } from '../../stack/manifests';
import type { Row } from '../row';

export const STARTUP_ROWS: readonly Row[] = [
  {
    name: 'a Job whose image cannot be pulled is Ready and says ImagePullBackOff with the image',
    async run(cluster) {
      await cluster.apply(
        job('typo', {
          container: { image: 'registry.example/typo:1' },
          podAnnotations: { 'fluxqueue.test/waits': 'ImagePullBackOff' },
        }),
      );
      const { status } = await cluster.says('typo', /ImagePullBackOff: .*registry\.example\/typo:1/);
      expect(status).toMatchObject({ phase: 'Ready' });
      expect(status!.startTime).toBeUndefined();
    },
  },
  {
    name: 'a Job whose image cannot be pulled within its walltime is not recorded as run',
    async run(cluster) {
      await cluster.apply(
        job('typo', {
          annotations: { 'fluxqueue/walltime': '10s' },
          podAnnotations: { 'fluxqueue.test/waits': 'ImagePullBackOff' },
        }),
      );
      await cluster.says('typo', /ImagePullBackOff/);
      const path = cluster.path('batch/v1', 'jobs', 'typo');
      await cluster.until('a deadline beyond its walltime', 60_000, async () => {
        const { spec, status } = await cluster.get<Job>(path);
        expect(status?.conditions?.find(({ type }) => type === 'Failed')).toBeUndefined();
        return (spec.activeDeadlineSeconds ?? 0) >= 20;
      });
      const [fluxJob] = await cluster.fluxJobs('typo');
      expect(fluxJob!.status).toMatchObject({ phase: 'Ready' });
      expect(fluxJob!.status!.startTime).toBeUndefined();
    },
  },
  {
    name: 'a Job whose container fails says with which exit code',
    async run(cluster) {
      await cluster.apply(
        job('broken', {
          runs: '1s',
          spec: { backoffLimit: 0 },
          podAnnotations: { 'fluxqueue.test/exit-code': '3' },
        }),
      );
      await cluster.says(
        'broken',
        /ran for \d+ s on .*; pod broken-0-\w+ failed: container .* exited with code 3/,
      );
    },
  },
  {
    name: 'a Job whose containers are being created is Ready and says ContainerCreating',
    async run(cluster) {
      await cluster.apply(job('slow', { podAnnotations: { 'fluxqueue.test/waits': 'ContainerCreating' } }));
      const { status } = await cluster.says('slow', /ContainerCreating/);
      expect(status!.phase).toBe('Ready');
    },
  },
  {
    name: 'a Job for a scheduler that does not run says so, and holds nothing',
    async run(cluster) {
      await cluster.apply(job('other', { pod: { schedulerName: 'nobody' } }));
      await cluster.saysAndFrees('other', /scheduler nobody|schedulerName.*nobody/);
    },
  },
  {
    name: 'a Job with a missing PersistentVolumeClaim says so in words of kube-scheduler, and holds nothing',
    async run(cluster) {
      await cluster.apply(job('reader', { pod: withClaim('results') }));
      await cluster.saysAndFrees('reader', /persistentvolumeclaim "results" not found/);
    },
  },
  {
    name: 'a Job with a missing PersistentVolumeClaim runs once the claim is bound',
    async run(cluster) {
      await cluster.apply(job('reader', { pod: withClaim('results') }));
      await cluster.says('reader', /persistentvolumeclaim "results" not found/);
      await cluster.apply(...sharedVolume(cluster.namespace, 'results'));
      await cluster.runs('reader', 1);
    },
  },
  {
    name: 'a Job with a missing resource claim says so and holds nothing',
    async run(cluster) {
      await cluster.apply(
        job('device', {
          pod: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'missing' }] },
          container: { resources: { claims: [{ name: 'gpu' }], requests: { cpu: '1' } } },
        }),
      );
      await cluster.saysAndFrees('device', /resourceclaim "missing" not found/);
    },
  },
  {
    name: 'a Job with a missing template of resource claims says so and holds nothing',
    async run(cluster) {
      await cluster.apply(
        job('device', {
          pod: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'missing' }] },
          container: { resources: { claims: [{ name: 'gpu' }], requests: { cpu: '1' } } },
        }),
      );
      await cluster.saysAndFrees('device', /resourceclaimtemplate "missing" not found/);
    },
  },
  {
    name: 'a bare Pod with a missing resource claim says so and holds nothing',
    async run(cluster) {
      const spec = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'missing' }] };
      await cluster.apply(pod('device', { spec }));
      await cluster.saysAndFrees('device', /resourceclaim "missing" not found/);
    },
  },
];
