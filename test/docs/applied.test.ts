/** What the TypeScript and YAML snippets of README and docs make, on a real apiserver with the stack: it is accepted, and its workloads run. */
import { FLUXJOB_GROUP } from '../../constructs/api/labels';
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { KubeObject } from '../cluster/api';
import { describeStack } from '../stack/suite';
import { programOf, snippets, synthesize, yamlDocuments } from './snippets';

interface Case {
  readonly place: string;
  readonly namespace: string;
  readonly objects: readonly KubeObject[];
}

/** Each snippet of TypeScript has a namespace of its own, because several make the FluxSetup `default`. */
const PROGRAMS = snippets('ts').map((snippet, index): Case => {
  const namespace = `snippet-${index}`;
  return { place: snippet.place, namespace, objects: synthesize(programOf(snippet, namespace)) };
});
const DOCUMENTS = yamlDocuments().map(({ place, document }, index): Case => {
  const object = document as KubeObject;
  const namespace = object.metadata?.namespace ?? `yaml-${index}`;
  const isObject = object.kind !== undefined;
  return { place, namespace, objects: isObject ? [inNamespace(object, namespace)] : [] };
});
const CASES = [...PROGRAMS, ...DOCUMENTS].filter(({ objects }) => objects.length > 0);

/** The stack of a snippet would take the place of the one that runs here. */
const isStack = ({ objects }: Case) =>
  objects.some(({ kind }) => kind === 'MutatingAdmissionPolicy' || kind === 'Deployment');
/** Kinds whose definitions this cluster does not have; test/gitops/constructs.test.ts, test/stack/jobsets.test.ts, test/stack/leader-worker-sets.test.ts and test/kinds/table.ts judge them. */
const OF_OTHERS =
  /^(argoproj\.io|.*\.toolkit\.fluxcd\.io|jobset\.x-k8s\.io|kubeflow\.org|leaderworkerset\.x-k8s\.io)\//;
/** The claim that the text of a snippet takes for granted, with a volume for it. */
function givenVolume(namespace: string): readonly KubeObject[] {
  const access = { accessModes: ['ReadWriteMany'], storageClassName: '' };
  const volumeName = `${namespace}-data`;
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: { ...access, capacity: { storage: '1Gi' }, hostPath: { path: '/data' } },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace },
      spec: { ...access, volumeName, resources: { requests: { storage: '1Gi' } } },
    },
  ];
}

const WORKLOADS: readonly string[] = ['Job', 'MiniCluster', 'Pod'];

function inNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

describeStack(
  'the snippets of README and docs',
  (getFixture) => {
    beforeAll(async () => {
      await getFixture().stack.startController();
    });

    async function apply(objects: readonly KubeObject[], ...args: string[]): Promise<void> {
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const command = ['apply', '--server-side', '--force-conflicts', ...args, '-f', '-'];
      const { code, stderr } = await getFixture().stack.cluster.kubectl(command, { stdin });
      expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    }

    test.each(CASES.filter(isStack))(
      '$place: the apiserver takes every object of the stack',
      async ({ objects }) => {
        await apply(objects, '--dry-run=server');
      },
    );

    test.each(CASES.filter((each) => !isStack(each)))(
      '$place: it is applied, and its workloads run',
      async ({ namespace, objects }) => {
        const { stack } = getFixture();
        const known = objects.filter(({ apiVersion }) => !OF_OTHERS.test(apiVersion));
        if (known.length === 0) return;
        await stack.namespace(namespace);
        if (JSON.stringify(known).includes('"claimName":"data"')) await apply(givenVolume(namespace));
        await apply(known);
        const path = `/apis/${FLUXJOB_GROUP}/v1alpha1/namespaces/${namespace}/fluxjobs`;
        const workloads = known.filter(({ kind }) => WORKLOADS.includes(kind));
        await stack.cluster.waitFor(`the workloads of ${namespace} to run`, async () => {
          const { items } = await stack.cluster.get<{ items: FluxJobObject[] }>(path);
          const waiting = items.filter(
            ({ status }) => !['Running', 'Finished'].includes(status?.phase ?? ''),
          );
          const failed = items.filter(
            ({ status }) => status?.result !== undefined && status.result !== 'Succeeded',
          );
          if (waiting.length + failed.length > 0)
            throw new Error(
              JSON.stringify([...waiting, ...failed].map(({ status }) => status?.conditions?.[0])),
            );
          return items.length >= workloads.length;
        });
      },
    );

    test('some of them are workloads, and some are stacks', () => {
      const kinds = CASES.flatMap(({ objects }) => objects.map(({ kind }) => kind));
      expect(kinds).toEqual(expect.arrayContaining(['Job', 'MiniCluster', 'FluxSetup']));
      expect(CASES.filter(isStack).length).toBeGreaterThan(1);
    });
  },
  { nodes: 8, nodeShape: { cpu: '64', memory: '512Gi' } },
);
