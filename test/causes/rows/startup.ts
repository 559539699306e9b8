/** Pods that are bound or created but do not run: the FluxJob is never Running, and says what it waits for. */
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
    name: 'a Job whose containers are being created is Ready and says ContainerCreating',
    async run(cluster) {
      await cluster.apply(job('slow', { podAnnotations: { 'fluxqueue.test/waits': 'ContainerCreating' } }));
      const { status } = await cluster.says('slow', /ContainerCreating/);
      expect(status!.phase).toBe('Ready');
    },
  },
  {
    name: 'a Job with a scheduling gate of its own says which, and holds nothing',
    async run(cluster) {
      await cluster.apply(job('gated', { pod: { schedulingGates: [{ name: 'example.com/data' }] } }));
      await cluster.saysAndFrees('gated', /example\.com\/data/);
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
