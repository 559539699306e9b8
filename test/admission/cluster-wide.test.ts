// Own cluster: admission of every namespace.
/** Cluster-wide admission: every namespace takes part except the excluded ones. */
import { App, Chart, Testing } from 'cdk8s';
import { ADMITTED_LABEL, STACK_NAMESPACE } from '../../constructs/api/labels';
import { AdmissionGuards } from '../../constructs/fluxqueue/admission/guards';
import { AdmissionPolicies } from '../../constructs/fluxqueue/admission/policies';
import type { KubeObject } from '../cluster/api';
import { describeOwnCluster } from '../cluster/suite';
import { job } from './corpus-objects';
import { makeNamespace, untilActive } from './forms';
import { USER_RIGHTS, type Users, usersOf } from './users';

describeOwnCluster('cluster-wide admission', (getCluster) => {
  let users: Users;
  beforeAll(async () => {
    const cluster = getCluster();
    await cluster.apply(USER_RIGHTS);
    users = usersOf(cluster);
    const chart = new Chart(new App(), 'test');
    const scope = { clusterWide: true, excludedNamespaces: ['excluded'], name: 'wide' };
    new AdmissionPolicies(chart, 'policies', { ...scope, schedulerName: 'fluxqueue-scheduler' });
    new AdmissionGuards(chart, 'guards', scope);
    await cluster.apply(Testing.synth(chart) as KubeObject[]);
    for (const name of [STACK_NAMESPACE, 'excluded', 'any']) await makeNamespace(cluster, name, {});
    await makeNamespace(cluster, 'out', { 'fluxqueue/enabled': 'false' });
    await untilActive(cluster, 'any');
  });
  afterAll(() => users?.close());

  const admitted = async (namespace: string) => {
    const { status, body } = await users.create('alice', namespace, job({ suspend: true }));
    expect(status).toBe(201);
    return body.metadata.labels?.[ADMITTED_LABEL];
  };

  it.each(['any', 'default'])('includes namespace %s', async (namespace) => {
    expect(await admitted(namespace)).toBe('true');
  });

  it.each(['kube-system', STACK_NAMESPACE, 'excluded', 'out'])('excludes namespace %s', async (namespace) => {
    expect(await admitted(namespace)).toBeUndefined();
  });

  it.each(['kube-system', STACK_NAMESPACE])(
    'excludes namespace %s even with the label',
    async (namespace) => {
      await makeNamespace(getCluster(), namespace, { 'fluxqueue/enabled': 'true' });
      await getCluster().waitFor('the label', async () => {
        const { body } = await users.send(undefined, 'GET', `/api/v1/namespaces/${namespace}`);
        return body.metadata.labels?.['fluxqueue/enabled'] === 'true';
      });
      expect(await admitted(namespace)).toBeUndefined();
    },
  );

  it('gives the configured scheduler to pods that request the default one', async () => {
    const pod = (schedulerName?: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { generateName: 'pod-' },
      spec: { containers: [{ name: 'a', image: 'a' }], ...(schedulerName && { schedulerName }) },
    });
    const chosen = async (given?: string) =>
      ((await users.create('alice', 'any', pod(given))).body.spec as { schedulerName: string }).schedulerName;
    expect(await chosen()).toBe('fluxqueue-scheduler');
    expect(await chosen('default-scheduler')).toBe('fluxqueue-scheduler');
    expect(await chosen('volcano')).toBe('volcano');
  });
});
