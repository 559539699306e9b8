import { Duration, Lazy, Size } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import { ENVIRONMENT_VARIABLES, parseConfig } from '../../../runtime/config';
import { stackQueue } from '../../../runtime/fluxsetups/queue-settings';
import type { KubeObject } from '../../cluster/api';
import {
  configurationFile,
  configurationOf,
  container,
  find,
  LARGEST_STACK,
  podTemplates,
  stackObjects,
} from '../manifests';

describe('the configuration of the runtime', () => {
  test('has the defaults of the runtime without props', () => {
    const given = configurationOf(stackObjects());
    const database = { migrate: false, storage: '10Gi' };
    const address = 'unix:/run/fluxion/fluxion.sock';
    expect(given).toEqual(parseConfig({ database, fluxion: { address, engine: 'embedded' } }));
    expect(given.units).toEqual({ cpuMillis: 100, memoryMiB: 128 });
    expect(configurationOf(stackObjects({ fluxion: 'embedded' }))).toEqual(
      parseConfig({ database, fluxion: { engine: 'embedded' } }),
    );
  });

  test("tells the controller and its sidecar alike that flux-sched's library answers, in large units", () => {
    const given = configurationOf(stackObjects({ fluxionEngine: 'library' }));
    const database = { migrate: false, storage: '10Gi' };
    const address = 'unix:/run/fluxion/fluxion.sock';
    expect(given).toEqual(parseConfig({ database, fluxion: { address, engine: 'library' } }));
    expect(given.units).toEqual({ cpuMillis: 1000, memoryMiB: 1024 });
    // The engine of a service is not known unless it is set.
    expect(parseConfig({ fluxion: { address } }).units).toEqual({ cpuMillis: 1000, memoryMiB: 1024 });
  });

  test('has the values of the props', () => {
    const given = configurationOf(
      stackObjects({
        namespace: 'batch',
        matchPolicy: 'first',
        queueName: 'night',
        queuePolicy: 'fcfs',
        queueDepth: 50,
        defaultWalltime: Duration.minutes(5),
        maxWalltime: Duration.hours(3),
        coreUnitMillis: 100,
        memoryUnit: Size.mebibytes(256),
        logLevel: 'debug',
        fluxJobs: 'All',
        fluxion: 'embedded',
      }),
    );
    expect(given).toMatchObject({
      logLevel: 'debug',
      leaderElection: { namespace: 'batch' },
      fluxion: { address: 'embedded', policy: 'first' },
      queue: {
        name: 'night',
        policy: 'fcfs',
        depth: 50,
        defaultWalltimeSeconds: 300,
        maxWalltimeSeconds: 10800,
      },
      fluxJobs: { policy: 'All' },
      units: { cpuMillis: 100, memoryMiB: 256 },
      webhook: { secretNamespace: 'batch' },
      reader: { secretNamespace: 'batch' },
    });
  });

  test("has the limits of the stack's own queue", () => {
    const given = configurationOf(
      stackObjects({
        queueQuota: { jobs: 10, cores: Cpu.millis(1500), memory: Size.mebibytes(512), gpus: 0 },
        queueLimits: { running: 20 },
        queueLimitsPerUser: { running: 2, waiting: 100 },
        queueMinPriority: -5,
        queueMaxPriority: 7,
        queueBillingWeights: { memory: 0.5 },
        fairShare: true,
        queuePreemptionMinRuntime: Duration.minutes(1),
        queuePreemptionLimit: 0,
        priorityWeights: { age: 4, queue: -2 },
        priorityMaxAge: Duration.days(7),
      }),
    );
    expect(stackQueue(given.queue)).toMatchObject({
      quota: { jobs: 10, cores: 1.5, memoryGiB: 0.5, gpus: 0 },
      limits: { queue: { running: 20 }, user: { running: 2, waiting: 100 } },
      priority: { min: -5, max: 7 },
      billingWeights: { cores: 1, memoryGiB: 0.5, gpus: 16 },
      preemption: { minRuntimeSeconds: 60, limit: 0 },
      priorityWeights: { age: 4, fairShare: 0.5, size: 0, queue: -2, maxAgeSeconds: 604_800 },
    });
  });

  test.each([
    [{ queueQuota: {} }, 'FluxQueue.queueQuota: must limit at least one resource'],
    [{ queueQuota: { jobs: -1 } }, 'FluxQueue.queueQuota.jobs: must be a whole number'],
    [{ userMinPriority: 1 }, 'FluxQueue.userMinPriority: is greater than userMaxPriority (0)'],
    [
      { queueBillingWeights: { cores: -1 }, fairShare: true },
      'FluxQueue.queueBillingWeights.cores: must be a number from 0',
    ],
    [
      { priorityWeights: { fairShare: -1 }, fairShare: true },
      'FluxQueue.priorityWeights.fairShare: must be a number from 0',
    ],
    [
      { priorityMaxAge: Duration.millis(1500) },
      'FluxQueue.priorityMaxAge: must be a whole number of seconds',
    ],
    [
      { maxGracePeriod: Duration.millis(1500) },
      'FluxQueue.maxGracePeriod: must be a whole number of seconds',
    ],
    [{ maxGracePeriod: Duration.seconds(0) }, 'FluxQueue.maxGracePeriod: must be a whole number of seconds'],
    [{ queuePreemptionLimit: 0.5 }, 'FluxQueue.queuePreemptionLimit: must be a whole number'],
    [{ queueLimits: { waiting: 0 } }, 'FluxQueue.queueLimits.waiting: must be a whole number'],
    [{ queueLimitsPerUser: { running: 0.5 } }, 'FluxQueue.queueLimitsPerUser.running: must be'],
    [
      { queueMinPriority: 3, queueMaxPriority: 2 },
      'FluxQueue.queueMinPriority: is greater than queueMaxPriority',
    ],
  ])('refuses %j', (props, message) => {
    expect(() => stackObjects(props)).toThrow(message);
  });

  test('has the props of the queue and of fair share', () => {
    const given = configurationOf(
      stackObjects({
        queuePolicy: 'hybrid',
        queueReservations: 3,
        queueWeight: 2,
        retention: Duration.days(90),
        archiveRetention: Duration.days(1_000),
        recordsPerHour: 50,
        fairShare: true,
        fairShareHalfLife: Duration.hours(12),
      }),
    );
    expect(given).toMatchObject({
      queue: {
        enabled: true,
        policy: 'hybrid',
        reservations: 3,
        weight: 2,
        retentionDays: 90,
        archiveDays: 1_000,
        recordsPerHour: 50,
      },
      fairShare: { enabled: true, halfLifeSeconds: 43_200 },
    });
    expect(configurationOf(stackObjects({ defaultQueue: false })).queue.enabled).toBe(false);
    expect(configurationOf(stackObjects({ queuePolicy: 'conservative' })).queue.policy).toBe('conservative');
  });

  test('has the times after which a grant has failed', () => {
    const given = configurationOf(
      stackObjects({
        unschedulableTimeout: Duration.minutes(1),
        volumeTimeout: Duration.minutes(20),
        startTimeout: Duration.hours(1),
        groupTimeout: Duration.minutes(2),
        nodeAvoidance: Duration.seconds(10),
      }),
    );
    expect(given.grants).toEqual({
      unschedulableSeconds: 60,
      volumeSeconds: 1200,
      startSeconds: 3600,
      groupSeconds: 120,
      avoidSeconds: 10,
    });
    for (const time of [Duration.millis(1500), Duration.seconds(0)])
      expect(() => stackObjects({ startTimeout: time })).toThrow(
        /FluxQueue\.startTimeout: must be a whole number of seconds/,
      );
  });

  test('knows every environment variable of the pods', () => {
    const variables = podTemplates(stackObjects())
      .flatMap(({ spec }) => spec.containers)
      .filter(({ command = [] }) => command.includes('/app/runtime.js'))
      .flatMap(({ env = [] }) => env.map(({ name }) => name));
    expect([...new Set(variables)].sort()).toEqual([
      'DATABASE_URL',
      'FLUXQUEUE_database_secret_key',
      'FLUXQUEUE_database_secret_name',
      'FLUXQUEUE_database_secret_namespace',
      'FLUXQUEUE_http_port',
      'FLUXQUEUE_leaderElection_podUid',
      'FLUXQUEUE_metrics_port',
    ]);
    expect(ENVIRONMENT_VARIABLES).toEqual(expect.arrayContaining(variables));
  });

  test('has the UID of the pod, so that a restarted controller does not wait for the Lease of its previous process', () => {
    const controller = podTemplates(stackObjects()).find(({ owner }) => owner === 'fluxqueue-controller')!;
    expect(container(controller, 'controller').env).toContainEqual({
      name: 'FLUXQUEUE_leaderElection_podUid',
      valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } },
    });
  });

  test('contains no $(NAME) or $$ in commands, which Kubernetes expands', () => {
    const containers = podTemplates(stackObjects(LARGEST_STACK)).flatMap(({ spec }) => [
      ...(spec.initContainers ?? []),
      ...spec.containers,
    ]);
    const expanded = containers.flatMap((each) => {
      const probes = [each.startupProbe, each.livenessProbe, each.readinessProbe];
      const words = [...(each.command ?? []), ...probes.flatMap((probe) => probe?.exec?.command ?? [])];
      const names = (each.env ?? []).map(({ name }) => `$(${name})`);
      return words.filter((word) => ['$$', ...names].some((text) => word.includes(text)));
    });
    expect(expanded).toEqual([]);
  });

  test('is named by its content, so that pods of each version keep their own file', () => {
    const stacks = [LARGEST_STACK, { ...LARGEST_STACK, logLevel: 'debug' } as const].map(stackObjects);
    const names = stacks.map((objects) =>
      podTemplates(objects)
        .flatMap(({ spec }) => spec.volumes ?? [])
        .flatMap(({ configMap }) => configMap?.name ?? [])
        .filter((name) => name !== 'kube-root-ca.crt'),
    );
    for (const [index, objects] of stacks.entries()) {
      // Controller, webhook and reader have one file, the scheduler another.
      expect(new Set(names[index]).size).toBe(2);
      for (const name of names[index]!) {
        expect(name).toMatch(/^fluxqueue-(config|scheduler)-[0-9a-f]{16}$/);
        const { immutable, metadata } = find<{ immutable: boolean } & KubeObject>(objects, 'ConfigMap', name);
        expect(immutable).toBe(true);
        expect(metadata.annotations).toMatchObject({
          'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
          'argocd.argoproj.io/sync-options': 'Prune=false',
          'helm.sh/resource-policy': 'keep',
          'kustomize.toolkit.fluxcd.io/prune': 'disabled',
        });
      }
    }
    const [before, after] = names.map((each) => each.filter((name) => name.startsWith('fluxqueue-config')));
    expect(after).not.toContain(before?.[0]);
    // What both stacks have alike has the same name.
    expect(names[1]).toContain(names[0]!.find((name) => name.startsWith('fluxqueue-scheduler')));
  });

  test('has its name at synth where a prop is lazy', () => {
    const lazy = stackObjects({ queueDepth: Lazy.any({ produce: () => 50 }) as unknown as number });
    expect(configurationFile(lazy)).toBe(configurationFile(stackObjects({ queueDepth: 50 })));
    expect(configurationOf(lazy).queue.depth).toBe(50);
  });
});
