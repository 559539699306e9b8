/** How many labels and annotations an object of the queue can have, in both forms of admission on a real apiserver. */
import { App, Chart, Testing } from 'cdk8s';
import { ASSIGNMENT_ANNOTATION, DEADLINE_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { MAX_METADATA } from '../../constructs/api/metadata-limits';
import { WORKLOAD_KINDS } from '../../constructs/api/workload-kinds';
import { ControllerGuard } from '../../constructs/fluxqueue/admission/controller-guard';
import { withField } from '../../runtime/kubernetes/fields';
import type { KubeObject } from '../cluster/api';
import { describeCluster } from '../cluster/suite';
import { applyStandIns } from '../kinds/stand-in';
import { CONTAINER, type Fields, job, pod } from './corpus-objects';
import { FORMS, PLAIN, useForms } from './forms';
import { ALICE, accepted, CONTROLLER, denied, type Users } from './users';

const JOBSET = WORKLOAD_KINDS.find(({ kind }) => kind === 'JobSet')!;
const template = (metadata: Fields) => ({
  metadata,
  spec: { restartPolicy: 'Never', containers: [CONTAINER] },
});
const jobSet = (metadata: Fields, ofPods: Fields = {}): KubeObject => ({
  apiVersion: `${JOBSET.group}/${JOBSET.version}`,
  kind: JOBSET.kind,
  metadata: { generateName: 'x-', ...metadata },
  spec: { replicatedJobs: [{ name: 'a', template: { spec: { template: template(ofPods) } } }] },
});

const annotations = (count: number) => ({
  annotations: Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, ''])),
});
/** Admission and the apiserver add some of their own before the rule. */
const MOST = annotations(MAX_METADATA.object - 3);
const MOST_OF_JOB = annotations(MAX_METADATA.templateOfJob - 4);
const MOST_OF_KIND = annotations(MAX_METADATA.templateOfKind);
const TOO_MANY = annotations(MAX_METADATA.object + 1);
const problem = (field: string, most: number = MAX_METADATA.object) =>
  `FLUXQ_TOO_LARGE: ${field}: must have at most ${most} labels and annotations (got `;

describeCluster('labels and annotations', (getCluster) => {
  let users: Users;
  useForms(getCluster, (made) => {
    users = made;
  });
  beforeAll(async () => {
    const chart = new Chart(new App(), 'test');
    new ControllerGuard(chart, 'controller', {
      miniClusters: false,
      mutatingPolicies: true,
      excludedNamespaces: [PLAIN],
    });
    await getCluster().apply(Testing.synth(chart) as KubeObject[]);
    for (const form of FORMS) await applyStandIns(getCluster(), form);
  });

  describe.each([...FORMS])('in the namespace of the %s', (namespace) => {
    const start = {
      job: { metadata: { annotations: { [DEADLINE_ANNOTATION]: '600' } }, spec: { suspend: false } },
      jobSet: {
        metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '=0/1:n1', [JOBID_ANNOTATION]: '7' } },
        spec: (withField({}, JOBSET.suspend, false) as { spec: Fields }).spec,
      },
    };
    const stop = { spec: { suspend: true } };

    it.each([
      ['Job', (metadata: Fields) => job({}, metadata, { metadata: MOST_OF_JOB }), start.job],
      ['JobSet', (metadata: Fields) => jobSet(metadata, MOST_OF_KIND), start.jobSet],
    ] as const)('let the controller stop a %s with the most that it can have', async (_, make, release) => {
      const made = await accepted(users.create(ALICE, namespace, make(MOST)));
      const started = await accepted(users.patch(CONTROLLER, namespace, made, release));
      const stopped = await accepted(users.patch(CONTROLLER, namespace, started, stop));
      expect(stopped.spec).toMatchObject({ suspend: true });
    });

    it.each([
      ['a Job', problem('metadata'), job({}, TOO_MANY)],
      [
        'the template of a Job',
        problem('spec.template.metadata', MAX_METADATA.templateOfJob),
        job({}, {}, { metadata: annotations(MAX_METADATA.templateOfJob + 1) }),
      ],
      ['a pod', problem('metadata'), pod({}, TOO_MANY)],
      ['a JobSet', problem('metadata'), jobSet(TOO_MANY)],
      [
        'a template of a JobSet',
        problem('spec.replicatedJobs', MAX_METADATA.templateOfKind),
        jobSet({}, annotations(MAX_METADATA.templateOfKind + 1)),
      ],
    ])('are refused where they are too many in %s', async (_, text, object) => {
      await denied(users.create(ALICE, namespace, object), text);
    });

    it('cannot become too many', async () => {
      for (const object of [job(), pod(), jobSet({})]) {
        const made = await accepted(users.create(ALICE, namespace, object));
        const more = { metadata: TOO_MANY };
        await denied(users.patch(ALICE, namespace, made, more), problem('metadata'));
      }
    });
  });
});
