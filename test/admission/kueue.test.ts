/** Jobs of Kueue beside those of the queue, on a real apiserver whose Job controller makes their pods. */
import { App, Chart, Testing } from 'cdk8s';
import {
  ADMITTED_LABEL,
  KUEUE_QUEUE_LABEL,
  QUEUED_BY_ANNOTATION,
  USER_ANNOTATION,
} from '../../constructs/api/labels';
import { AdmissionGuards } from '../../constructs/fluxqueue/admission/guards';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { JOB_CONTROLLER, job, owner, pod } from './corpus-objects';
import { FORMS, makeNamespace, PLAIN, useForms } from './forms';
import { ALICE, accepted, denied, KUEUE, type Users } from './users';

const OF_KUEUE = { labels: { [KUEUE_QUEUE_LABEL]: 'team' } };
const QUEUED = { annotations: { [QUEUED_BY_ANNOTATION]: 'kueue' } };
const template = (metadata: object) => ({ spec: { template: { metadata } } });
/** What Kueue 0.14 writes when it starts a Job. */
const START = {
  spec: {
    suspend: false,
    template: {
      metadata: { labels: { 'kueue.x-k8s.io/podset': 'main' } },
      spec: { nodeSelector: { flavor: 'spot' } },
    },
  },
};
const reserved = `FLUXQ_RESERVED: spec.template.metadata.annotations["${QUEUED_BY_ANNOTATION}"]: `;
const field = `FLUXQ_OTHER_QUEUE: metadata.labels["${KUEUE_QUEUE_LABEL}"]: `;
/** In a namespace of the queue it is a setting in the wrong place. */
const misplaced = `FLUXQ_SETTING_INVALID: spec.template.metadata.annotations["${QUEUED_BY_ANNOTATION}"]: `;

describeCluster('Kueue beside the queue', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(() => makeNamespace(getCluster(), 'other', {}));

  const podsOf = async (namespace: string, { metadata }: KubeObject) => {
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=job-name=${metadata.name}`;
    const { items } = await getCluster().get<{ items: readonly KubeObject[] }>(path);
    return items;
  };

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const waiting = (spec: object = {}) =>
      accepted(users.create(ALICE, namespace, job({ suspend: true, ...spec }, OF_KUEUE)));

    it('keeps a Job of Kueue from leaving its pods behind', async () => {
      const refused = 'FLUXQ_OTHER_QUEUE: propagationPolicy: ';
      const train = await waiting();
      const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${train.metadata.name}`;
      const during = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });
      const all = `/apis/batch/v1/namespaces/${namespace}/jobs?fieldSelector=metadata.name%3D${train.metadata.name}`;
      // Kubernetes orphans them by default.
      for (const more of [{}, { propagationPolicy: 'Orphan' }, { orphanDependents: true }])
        for (const at of [path, all]) await denied(users.send(ALICE, 'DELETE', at, during(more)), refused);
      await accepted(users.send(ALICE, 'DELETE', path, during({ propagationPolicy: 'Background' })));
      const own = await accepted(users.create(ALICE, namespace, job()));
      const plain = `/apis/batch/v1/namespaces/${namespace}/jobs/${own.metadata.name}`;
      await accepted(users.send(ALICE, 'DELETE', plain, during({ propagationPolicy: 'Orphan' })));
    });

    it('leaves a Job of Kueue and the pods alone that it starts', async () => {
      const train = await waiting();
      expect(train.metadata.labels).not.toHaveProperty([ADMITTED_LABEL]);
      await accepted(users.patch(KUEUE, namespace, train, START));
      const [made] = await getCluster().waitFor('the pod of the Job', async () => {
        const pods = await podsOf(namespace, train);
        return pods.length > 0 && pods;
      });
      expect(made!.spec).not.toHaveProperty('schedulingGates');
      expect(made!.metadata.labels).not.toHaveProperty([ADMITTED_LABEL]);
      expect(made!.metadata.annotations).toMatchObject({ [USER_ANNOTATION]: ALICE });
      // Kueue preempts it, and restores its template as it was when it was created.
      const stop = { suspend: true, template: { metadata: { labels: { 'kueue.x-k8s.io/podset': null } } } };
      await accepted(users.patch(KUEUE, namespace, train, { spec: { suspend: true } }));
      await getCluster().waitFor(
        'the end of its pods',
        async () => (await podsOf(namespace, train)).length === 0,
      );
      const status = { status: { startTime: null } };
      const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${train.metadata.name}`;
      await accepted(users.send(KUEUE, 'PATCH', `${path}/status`, status));
      await accepted(users.patch(KUEUE, namespace, train, { spec: stop }));
      await accepted(users.patch(KUEUE, namespace, train, START));
    });

    it('has the selector that Kubernetes gives it, so that Kueue can stop all its pods', async () => {
      const labels = { own: 'x' };
      const spec = { suspend: true, manualSelector: true, selector: { matchLabels: labels } };
      const start = 'FLUXQ_OTHER_QUEUE: spec.manualSelector: ';
      await denied(users.create(ALICE, namespace, job(spec, OF_KUEUE, { metadata: { labels } })), start);
      await accepted(users.create(ALICE, namespace, job(spec, {}, { metadata: { labels } })));
    });

    it('lets only Kueue start it, and give it more pods', async () => {
      const train = await waiting({ parallelism: 1, completions: 2, completionMode: 'Indexed' });
      await denied(
        users.create(ALICE, namespace, job({ suspend: false }, OF_KUEUE)),
        'FLUXQ_OTHER_QUEUE: spec.suspend: ',
      );
      await denied(
        users.patch(ALICE, namespace, train, { spec: { suspend: false } }),
        'FLUXQ_HELD: spec.suspend: ',
      );
      await denied(users.patch(ALICE, namespace, train, START), 'FLUXQ_HELD: spec.suspend: ');
      await accepted(users.patch(ALICE, namespace, train, { spec: { parallelism: 2 } }));
      await accepted(users.patch(ALICE, namespace, train, { spec: { parallelism: 1 } }));
      await accepted(users.patch(KUEUE, namespace, train, START));
      await denied(
        users.patch(ALICE, namespace, train, { spec: { parallelism: 2 } }),
        'FLUXQ_RELEASED: spec.parallelism: ',
      );
      const narrow = await waiting({ parallelism: 3, completions: 1, completionMode: 'Indexed' });
      await accepted(users.patch(KUEUE, namespace, narrow, START));
      await denied(
        users.patch(ALICE, namespace, narrow, { spec: { completions: 3 } }),
        'FLUXQ_RELEASED: spec.completions: ',
      );
      await accepted(users.patch(ALICE, namespace, train, { spec: { suspend: true } }));
    });

    it('lets nobody move a Job from one queue to the other', async () => {
      const [ours, theirs] = [await accepted(users.create(ALICE, namespace, job())), await waiting()];
      const label = (value: string | null) => ({ metadata: { labels: { [KUEUE_QUEUE_LABEL]: value } } });
      await denied(users.patch(ALICE, namespace, ours, label('team')), field);
      await denied(users.patch(ALICE, namespace, theirs, label(null)), field);
      await accepted(users.patch(ALICE, namespace, theirs, label('batch')));
      await denied(
        users.create(
          ALICE,
          namespace,
          job({ suspend: true }, { labels: { ...OF_KUEUE.labels, [ADMITTED_LABEL]: 'true' } }),
        ),
        '',
      );
    });

    it('lets nobody claim that Kueue has the pods of another Job', async () => {
      const of = (metadata: object) => job({}, {}, { metadata });
      const claimed = await users.create(ALICE, namespace, of(QUEUED));
      expect(claimed.body.message).toContain(misplaced);
      await denied(users.create(ALICE, 'other', of(QUEUED)), reserved);
      await denied(
        users.create(ALICE, 'other', job({ suspend: true }, OF_KUEUE, { metadata: QUEUED })),
        reserved,
      );
      const ours = await accepted(users.create(ALICE, namespace, job()));
      await denied(users.patch(ALICE, namespace, ours, template(QUEUED)), '');
      const theirs = await waiting();
      await denied(
        users.patch(ALICE, namespace, theirs, template({ annotations: { [QUEUED_BY_ANNOTATION]: null } })),
        reserved,
      );
      const elsewhere = await accepted(users.create(ALICE, 'other', job({ suspend: true }, OF_KUEUE)));
      await denied(users.patch(ALICE, 'other', elsewhere, template(QUEUED)), reserved);
    });

    it('lets only the Job controller make a pod that Kueue has', async () => {
      const pods = `FLUXQ_RESERVED: metadata.annotations["${QUEUED_BY_ANNOTATION}"]: `;
      const ofJob = { ...QUEUED, ownerReferences: [owner('batch/v1', 'Job')] };
      for (const metadata of [QUEUED, ofJob])
        await denied(users.create(ALICE, namespace, pod({}, metadata)), pods);
      await denied(users.create(JOB_CONTROLLER, namespace, pod({}, QUEUED)), pods);
      await accepted(users.create(JOB_CONTROLLER, namespace, pod({}, ofJob)));
      const plain = await accepted(users.create(ALICE, namespace, pod()));
      await denied(users.patch(ALICE, namespace, plain, { metadata: QUEUED }), pods);
      await denied(
        users.create(JOB_CONTROLLER, namespace, pod({ nodeName: 'node-0' }, ofJob)),
        'FLUXQ_RESERVED: spec.nodeName: ',
      );
    });
  });

  it('refuses Jobs of Kueue in namespaces of the queue where no user is Kueue', async () => {
    const chart = new Chart(new App(), 'test');
    new AdmissionGuards(chart, 'guards', { excludedNamespaces: [PLAIN] });
    await getCluster().apply(Testing.synth(chart) as KubeObject[]);
    const waiting = job({ suspend: true }, OF_KUEUE);
    for (const namespace of FORMS) {
      await getCluster().waitFor('the guards without Kueue', async () => {
        const { status } = await users.create(ALICE, namespace, waiting);
        return status === 403;
      });
      for (const spec of [{ suspend: true }, {}])
        await denied(users.create(ALICE, namespace, job(spec, OF_KUEUE)), field);
      await accepted(users.create(ALICE, namespace, job()));
    }
    await accepted(users.create(ALICE, 'other', waiting));
  });
});
