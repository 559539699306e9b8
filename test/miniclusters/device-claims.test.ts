import type { MiniClusterSpec } from '../../imports/flux-framework.org-spec';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ApiError } from '../../runtime/kubernetes/errors';
import { type DeviceClaimState, withClaimedGpus } from '../../runtime/miniclusters/device-claims';
import { FakeApiserver } from './fake-apiserver';
import { cluster } from './objects';

const TEMPLATE = '/apis/resource.k8s.io/v1/namespaces/science/resourceclaimtemplates/gpus';
const CLAIM = '/apis/resource.k8s.io/v1/namespaces/science/resourceclaims/shared';
const BY_TEMPLATE = { name: 'devices', resourceClaimTemplateName: 'gpus' };
const BY_CLAIM = { name: 'devices', resourceClaimName: 'shared' };

const gpu = (count?: number, name = 'gpu') => ({
  name,
  exactly: { deviceClassName: 'gpu.nvidia.com', ...(count === undefined ? {} : { count }) },
});
const nic = { name: 'nic', exactly: { deviceClassName: 'sriov.example.com', count: 4 } };

/** An apiserver with one template and one claim that have these requests. */
class Apiserver {
  readonly reads: string[] = [];
  exists = true;
  status = 404;

  constructor(private readonly requests: readonly object[]) {}

  readonly client = {
    get: async (path: string) => {
      this.reads.push(path);
      const spec = { devices: { requests: this.requests } };
      if (this.exists && path === CLAIM) return { spec };
      if (this.exists && path === TEMPLATE) return { spec: { spec } };
      throw new ApiError({ status: this.status, reason: 'X', message: path, retryAfterSeconds: undefined });
    },
  } as unknown as KubernetesClient;
}

function using(request?: string, more: Partial<MiniClusterSpec> = {}, limits: Record<string, number> = {}) {
  const claims = [{ name: 'devices', ...(request === undefined ? {} : { request }) }];
  const containers = [{ image: 'flux', resources: { claims, limits } }];
  return cluster({ containers, pod: { resourceClaims: [BY_TEMPLATE] }, ...more });
}

async function gpusOf(requests: readonly object[], made = using(), state: DeviceClaimState = {}) {
  return (await withClaimedGpus(new Apiserver(requests).client, made, state)).spec.flux?.gpus;
}

test('counts the devices whose class is one of GPUs', async () => {
  expect(await gpusOf([gpu(2), gpu(undefined, 'other'), nic])).toBe(3);
  expect(await gpusOf([nic])).toBe(0);
});

test('counts the devices of an existing claim, and of the request that the container names', async () => {
  const claim = { pod: { resourceClaims: [BY_CLAIM] } };
  expect(await gpusOf([gpu(2), gpu(4, 'big')], using(undefined, claim))).toBe(6);
  expect(await gpusOf([gpu(2), gpu(4, 'big')], using('big', claim))).toBe(4);
});

test('counts what each alternative of a request has at least', async () => {
  const [{ exactly }, { exactly: other }] = [gpu(2), gpu(4)];
  const request = {
    name: 'gpu',
    firstAvailable: [
      { name: 'a', ...exactly },
      { name: 'b', ...other },
    ],
  };
  expect(await gpusOf([request])).toBe(2);
  expect(await gpusOf([request], using('gpu/b'))).toBe(2);
});

test('counts one GPU for a request of all devices, and those of the limits too', async () => {
  const all = { name: 'all', exactly: { deviceClassName: 'GPU', allocationMode: 'All' } };
  expect(await gpusOf([all], using(undefined, {}, { 'amd.com/gpu': 2 }))).toBe(3);
});

test('reads nothing without claims, or if the user gives the number', async () => {
  const apiserver = new Apiserver([gpu(2)]);
  const own = using(undefined, { flux: { gpus: 7 } });
  expect(await withClaimedGpus(apiserver.client, own, {})).toBe(own);
  const none = cluster();
  expect(await withClaimedGpus(apiserver.client, none, {})).toBe(none);
  expect(apiserver.reads).toEqual([]);
});

test('leaves the number to the renderer while the claim does not exist, and reads it once', async () => {
  const apiserver = new Apiserver([gpu(2)]);
  const state: DeviceClaimState = {};
  apiserver.exists = false;
  const made = using();
  expect(await withClaimedGpus(apiserver.client, made, state)).toBe(made);
  apiserver.exists = true;
  for (const _ of [1, 2]) {
    const { spec } = await withClaimedGpus(apiserver.client, made, state);
    expect(spec.flux?.gpus).toBe(2);
  }
  expect(apiserver.reads).toEqual([TEMPLATE, TEMPLATE]);
  apiserver.exists = false;
  apiserver.status = 500;
  const edited = { ...made, metadata: { ...made.metadata, generation: 9 } };
  await expect(withClaimedGpus(apiserver.client, edited, state)).rejects.toThrow(TEMPLATE);
});

test('the brokers of a MiniCluster offer the GPUs of its claims', async () => {
  const { spec } = using(undefined, { flux: { cores: 1 } });
  const apiserver = new FakeApiserver(spec);
  apiserver.readable['resourceclaimtemplates/gpus'] = { spec: { spec: { devices: { requests: [gpu(2)] } } } };
  await apiserver.reconcile();
  const config = apiserver.bodies.find(({ metadata }) => metadata.name === 'hello-config');
  expect(JSON.stringify(config)).toContain(String.raw`cores = \"0\"\ngpus = \"0-1\"`);
});
