/** Which users may give which priorities, in both forms of admission on a real apiserver. */
import { PRIORITIZE, USE_CLASS } from '../../constructs/api/priorities';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { type Fields, job, owner } from './corpus-objects';
import { FORMS, makeNamespace, useForms } from './forms';
import { MAKERS, rights, rule, WRITE, WRITE_WORKLOADS } from './makers';
import { accepted, CONTROLLER, type Reply, type Users } from './users';

const CLASSES = [
  ['urgent', 1000, false],
  ['modest', -5, false],
  ['usual', 7, true],
] as const;
const CRONJOBS = 'system:serviceaccount:kube-system:cronjob-controller';

/** It makes pods for the users of other objects, and may give them every priority. */
const OPERATOR = 'system:serviceaccount:ray:operator';
/** Under it users run pods that make others. */
const driverOf = (namespace: string) => `system:serviceaccount:${namespace}:driver`;

const miniCluster = (fields: Fields = {}): KubeObject => ({
  apiVersion: 'flux-framework.org/v1alpha2',
  kind: 'MiniCluster',
  metadata: { generateName: 'mc-' },
  spec: { size: 1, containers: [{ image: 'x', runFlux: true }], ...fields },
});
const labelled = (value: string) => ({ labels: { 'fluxqueue/priority': value } });
const annotated = (value: string) => ({ annotations: { 'fluxqueue/priority': value } });
const classed = (priorityClassName: string) => ({ priorityClassName });

describeCluster('priorities', (getCluster) => {
  let users: Users;
  useForms(
    getCluster,
    (made) => {
      users = made;
    },
    null,
  );
  beforeAll(async () => {
    const cluster = getCluster();
    const workloads = [...WRITE_WORKLOADS, rule(['flux-framework.org'], ['miniclusters'], WRITE)];
    const classes = CLASSES.map(
      ([name, value, globalDefault]) =>
        ({
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name },
          value,
          globalDefault,
        }) as KubeObject,
    );
    const { group, resource, verb } = PRIORITIZE;
    await cluster.apply([
      ...classes,
      ...rights('write', workloads, [
        'tenant',
        'lead',
        'classy',
        CONTROLLER,
        CRONJOBS,
        OPERATOR,
        ...FORMS.map(driverOf),
      ]),
      ...FORMS.flatMap((form) =>
        rights('lead', [rule([group], [resource], [verb])], ['lead', OPERATOR, driverOf(form)], form),
      ),
      ...rights(
        'classy',
        [{ ...rule([USE_CLASS.group], [USE_CLASS.resource], [USE_CLASS.verb]), resourceNames: ['urgent'] }],
        ['classy', OPERATOR, ...FORMS.map(driverOf)],
      ),
    ]);
    // The apiserver reads each policy some time after it has stored it.
    for (const namespace of FORMS)
      for (const [kind, make] of [...Object.entries(MAKERS), ['MiniCluster', miniCluster] as const]) {
        const metadata = kind === 'MiniCluster' ? { priority: 1 } : labelled('1');
        const urgent = () => users.create('tenant', namespace, make(metadata));
        await cluster.waitFor(`the guard of ${kind}`, async () => (await urgent()).status === 403);
      }
    await cluster.waitFor('the class', async () => {
      const { status } = await users.create('tenant', 'policies', MAKERS.Job!({}, classed('urgent')));
      return status === 403;
    });
    const granted = () => users.create('lead', 'webhook', job({}, labelled('1')));
    await cluster.waitFor('the right to prioritize', async () => (await granted()).status === 201);
    const used = () => users.create('classy', 'policies', MAKERS.Job!({}, classed('urgent')));
    await cluster.waitFor('the right to the class', async () => (await used()).status === 201);
  });

  const denied = async (reply: Promise<Reply>, start: string): Promise<void> => {
    const { status, body } = await reply;
    expect(body.message).toContain(`denied request: FLUXQ_PRIORITY: ${start}`);
    expect(status).toBe(403);
  };
  const TOO_HIGH = 'fluxqueue/priority: must be from -100 to 0; ';
  const NO_CLASS = 'priorityClassName: ';

  it('are limited in templates before their namespace is one of the queue, in which they would stay', async () => {
    await makeNamespace(getCluster(), 'later', {});
    const makers = {
      ...MAKERS,
      MiniCluster: (metadata?: Fields) => miniCluster(metadata && { priority: 5 }),
    };
    for (const [kind, make] of Object.entries(makers)) {
      const made = users.create('tenant', 'later', make(annotated('5')));
      // What waits by itself is judged when it is made in the queue.
      await (['Job', 'Pod'].includes(kind) ? accepted(made) : denied(made, TOO_HIGH));
      await accepted(users.create('lead', 'later', make()));
    }
    await accepted(users.create('tenant', 'later', MAKERS.Deployment!({}, classed('urgent'))));
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    it.each([
      ['Job', { spec: { suspend: false } }],
      ['Pod', { spec: { schedulingGates: null } }],
    ] as const)('a %s that runs gets one with a warning or a refusal, never both', async (kind, release) => {
      const made = await accepted(users.create('tenant', namespace, MAKERS[kind]!()));
      await accepted(users.patch(CONTROLLER, namespace, made, release));
      const change = { metadata: annotated('5') };
      const refused = await users.patch('tenant', namespace, made, change);
      expect([refused.status, refused.warnings]).toEqual([403, []]);
      const warned = await users.patch('lead', namespace, made, change);
      expect([warned.status, warned.warnings.length]).toEqual([200, 1]);
    });

    it.each(Object.entries(MAKERS))('limits those of a %s that a user creates', async (_, make) => {
      for (const value of ['-100', '0'])
        await accepted(users.create('tenant', namespace, make(annotated(value))));
      for (const metadata of [labelled('1'), labelled('2147483647'), annotated('-101'), annotated('1')])
        await denied(users.create('tenant', namespace, make(metadata)), TOO_HIGH);
      await accepted(users.create('lead', namespace, make(labelled('5'))));
      for (const name of ['urgent', 'system-node-critical'])
        await denied(users.create('tenant', namespace, make({}, classed(name))), NO_CLASS);
      await denied(users.create('classy', namespace, make({}, classed('system-node-critical'))), NO_CLASS);
      await accepted(users.create('classy', namespace, make({}, classed('urgent'))));
      for (const name of ['modest', 'usual'])
        await accepted(users.create('tenant', namespace, make({}, classed(name))));
    });

    it('limits a change, but no value that somebody else has given', async () => {
      const train = await accepted(users.create('lead', namespace, job({}, labelled('5'))));
      await accepted(users.patch('tenant', namespace, train, { metadata: { labels: { app: 'x' } } }));
      for (const value of ['6', '1'])
        await denied(users.patch('tenant', namespace, train, { metadata: labelled(value) }), TOO_HIGH);
      await accepted(users.patch('tenant', namespace, train, { metadata: labelled('0') }));
    });

    it.each<readonly [string, string, (className: string) => object]>([
      ['Job', 'field is immutable', (className) => ({ template: { spec: classed(className) } })],
      ['Pod', 'pod updates may not change fields', classed],
    ])(
      'needs no rule for the class of a %s that changes: Kubernetes refuses it',
      async (kind, problem, spec) => {
        const made = await accepted(users.create('tenant', namespace, MAKERS[kind]!({}, classed('modest'))));
        const { status, body } = await users.patch('classy', namespace, made, { spec: spec('urgent') });
        expect(body.message).toContain(problem);
        expect(status).toBe(422);
      },
    );

    it('lets the controllers of Kubernetes create what the template of a user allows', async () => {
      const ownedBy = (apiVersion: string, kind: string) => ({
        ...labelled('5'),
        ownerReferences: [owner(apiVersion, kind)],
      });
      await accepted(users.create(CRONJOBS, namespace, job({}, ownedBy('batch/v1', 'CronJob'))));
      for (const operated of [labelled('5'), ownedBy('example.com/v1', 'CronJob')])
        await denied(users.create(CRONJOBS, namespace, job({}, operated)), TOO_HIGH);
    });

    it.each(['Pod', 'Job'])('lets an operator give none to a %s of another object', async (kind) => {
      const made = (more: Fields, spec: Fields = {}) => MAKERS[kind]!(more, spec);
      const of = { ownerReferences: [owner('ray.io/v1', 'RayJob')] };
      await denied(users.create(OPERATOR, namespace, made({ ...labelled('5'), ...of })), TOO_HIGH);
      await denied(users.create(OPERATOR, namespace, made(of, classed('urgent'))), NO_CLASS);
      const urgent = classed('urgent');
      await accepted(users.create(OPERATOR, namespace, made(labelled('5'), urgent)));
      await accepted(users.create(driverOf(namespace), namespace, made({ ...labelled('5'), ...of }, urgent)));
    });

    it('limits those in the template of a Job that admission leaves alone', async () => {
      const kueue = { labels: { 'kueue.x-k8s.io/queue-name': 'x' } };
      const dear = job({ suspend: true }, kueue, { metadata: labelled('5') });
      await denied(users.create('tenant', namespace, dear), TOO_HIGH);
      await accepted(users.create('lead', namespace, dear));
      const made = await accepted(users.create('tenant', namespace, job({ suspend: true }, kueue)));
      const raise = { spec: { template: { metadata: labelled('5') } } };
      await denied(users.patch('tenant', namespace, made, raise), TOO_HIGH);
    });

    it.each<readonly [string, Fields, string]>([
      ['its own', { priority: 1 }, TOO_HIGH],
      ['that of its Job', { jobLabels: { 'fluxqueue/priority': '9' } }, TOO_HIGH],
      [
        'that of its pods',
        { workload: 'StatefulSet', interactive: true, pod: { labels: { 'fluxqueue/priority': '9' } } },
        TOO_HIGH,
      ],
      ['the class of its pods', { pod: { priorityClassName: 'urgent' } }, NO_CLASS],
    ])('limits those of a MiniCluster: %s', async (_, spec, start) => {
      await denied(users.create('tenant', namespace, miniCluster(spec)), start);
      await accepted(users.create('tenant', namespace, miniCluster({ priority: -3 })));
      if (start === TOO_HIGH) await accepted(users.create('lead', namespace, miniCluster(spec)));
    });
  });
});
