/** `flux.report`: the token, the program beside the lead broker, and where it is refused. */
import { App, Chart } from 'cdk8s';
import { MiniCluster, renderMiniCluster, validateMiniCluster } from '../../../constructs/minicluster';
import { render as renderYaml } from '../../../runtime/cli/render';
import { waitFor } from '../../cluster/wait';
import { ended } from './pod-files';
import { pod } from './rendered';
import { describeShells, spec } from './shell/suite';

const REPORTING = { flux: { report: true } };

test('only the container with the broker gets the token, which is good for nothing but reports', () => {
  const { volumes, containers, initContainers, automountServiceAccountToken } = pod(REPORTING) as ReturnType<
    typeof pod
  > & { automountServiceAccountToken: boolean };
  expect(volumes.find(({ name }) => name === 'flux-report')).toEqual({
    name: 'flux-report',
    projected: {
      sources: [
        {
          serviceAccountToken: {
            audience: 'fluxqueue.converged-computing.org',
            expirationSeconds: 600,
            path: 'token',
          },
        },
      ],
    },
  });
  const mounts = (container: object) => JSON.stringify(container).includes('flux-report');
  expect([containers.filter(mounts).length, initContainers?.some(mounts)]).toEqual([1, false]);
  expect(automountServiceAccountToken).toBe(false);
});

test('a new controller changes the text of a ConfigMap and no pod', () => {
  const resource = { metadata: { name: 'mc' }, spec: spec({ command: 'run' }, REPORTING) };
  const contact = { addresses: ['10.0.0.7:8444'], host: 'h', ca: 'PEM', path: '/p', every: 10 };
  const [config, ...others] = renderMiniCluster(resource, { report: contact });
  const [before, ...same] = renderMiniCluster(resource);
  expect(others).toEqual(same);
  const text = (of: typeof config) =>
    JSON.parse((of!.data as Record<string, string>)['cluster_report.json']!);
  expect([text(before), text(config)]).toEqual([{}, contact]);
});

test('is refused where no controller writes a status', () => {
  const chart = new Chart(new App(), 'c');
  const props = { container: { image: 'app' }, flux: { report: true } };
  expect(() => new MiniCluster(chart, 'mc', props)).toThrow(
    /flux\.report: requires the controller.*set live to true/,
  );
  expect(new MiniCluster(chart, 'live', { ...props, live: true }).resource.spec.flux).toEqual({
    report: true,
  });
  const text = JSON.stringify({
    apiVersion: 'flux-framework.org/v1alpha2',
    kind: 'MiniCluster',
    metadata: { name: 'mc' },
    spec: { containers: [{ image: 'app' }], ...REPORTING },
  });
  expect(() => renderYaml({ text, source: 'test' })).toThrow(/spec\.flux\.report: requires the controller/);
});

test('is refused for brokers that join another MiniCluster', () => {
  const leadBroker = { address: 'a', name: 'main', size: 1 };
  const flux = { report: true, curveCertSecret: 'x', bursting: { leadBroker } };
  const issues = validateMiniCluster({ metadata: { name: 'mc' }, spec: spec({}, { flux }) });
  expect(issues).toMatchObject([{ path: 'spec.flux.report', remedy: 'set it there and remove it here' }]);
});

describeShells('a cluster with reports', (make) => {
  const REPORT =
    /^<python><.*\/flux_operator\/report\.py><.*\/cluster\/report\.json><.*\/run\/flux-report\/token>$/;

  test('runs report.py beside the lead broker once it accepts jobs', async () => {
    const pod = make(spec({}, REPORTING));
    const child = pod.start('start.sh', []);
    const end = ended(child);
    await waitFor('the report', () => pod.calls().some((call) => REPORT.test(call)));
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });

  test('runs it in no worker', async () => {
    const pod = make(spec({ command: 'true' }, { flux: { report: true, completeWorkers: true } }));
    await pod.run({ JOB_COMPLETION_INDEX: '2', FAKE_WORKER: '0' });
    expect(pod.calls().filter((call) => call.startsWith('<python>'))).toEqual([]);
  });
});
