/** Reports of lead brokers in single reconciles: the contact in the configuration of the brokers, the numbers in the status. */
import { rowIn } from '../queue/rows';
import { FakeApiserver } from './fake-apiserver';
import { CREATED } from './objects';
import { NUMBERS } from './reporting';

const STATUS = 'patch miniclusters/hello/status';

describe('the report of a lead broker', () => {
  const REPORTING = { flux: { report: true } };
  const contactIn = (apiserver: FakeApiserver) => {
    const config = apiserver.bodies.findLast(({ metadata }) => metadata.name === 'hello-config')!;
    return JSON.parse((config.data as Record<string, string>)['cluster_report.json']!);
  };

  async function running(): Promise<FakeApiserver> {
    const apiserver = new FakeApiserver(REPORTING);
    apiserver.contact = { addresses: ['10.0.0.7:8444'], host: 'h', ca: 'PEM', path: '/p', every: 10 };
    await apiserver.reconcile();
    apiserver.addJob({}, { active: 4, ready: 4 });
    apiserver.row = rowIn('Running');
    await apiserver.reconcile();
    return apiserver;
  }

  test('gets the address of each new leader, without a change of the pods', async () => {
    const apiserver = await running();
    expect(contactIn(apiserver)).toEqual(apiserver.contact);
    const pods = apiserver.body('Job')!.spec;
    apiserver.contact = { ...apiserver.contact!, addresses: ['10.0.0.8:8444'] };
    await apiserver.reconcile();
    expect(contactIn(apiserver)).toEqual(apiserver.contact);
    expect(apiserver.body('Job')!.spec).toEqual(pods);
  });

  test('is in the status while it is new and the cluster has not finished', async () => {
    const apiserver = await running();
    apiserver.numbers = NUMBERS;
    expect((await apiserver.reconcile()).calls).toEqual([STATUS]);
    expect(apiserver.status.flux).toEqual(NUMBERS);
    expect((await apiserver.reconcile()).calls).toEqual([]);
    apiserver.numbers = undefined;
    await apiserver.reconcile();
    expect(apiserver.status.flux).toBeUndefined();
    apiserver.numbers = NUMBERS;
    apiserver.addJob(
      {},
      {
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: CREATED }],
        completionTime: CREATED,
      },
    );
    await apiserver.reconcile();
    expect([apiserver.status.phase, apiserver.status.flux]).toEqual(['Finished', undefined]);
  });
});
