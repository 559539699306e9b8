import { Duration, Size } from 'cdk8s';
import { PropsError } from '../../../constructs/api/errors';
import { Database, type FluxQueueProps } from '../../../constructs/fluxqueue/index';
import { stackObjects } from '../manifests';

test("flux-sched's library is chosen with a warning that names its size; nothing else warns", () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    stackObjects({});
    stackObjects({ fluxion: 'embedded' });
    expect(warn).not.toHaveBeenCalled();
    stackObjects({ fluxionEngine: 'library' });
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/library keeps up with about 30,000 units/),
        { type: 'FluxQueueWarning', code: 'FLUXQ_LIBRARY_SIZE' },
      ],
    ]);
  } finally {
    warn.mockRestore();
  }
});

describe('invalid props', () => {
  test.each<[FluxQueueProps, string, string]>([
    [{ kubernetesVersion: 'latest' }, 'FluxQueue.kubernetesVersion', 'is not a Kubernetes version'],
    [{ scheduler: true }, 'FluxQueue.scheduler', 'requires kubernetesVersion'],
    [{ kubernetesVersion: '1.35', admission: 'policies' }, 'FluxQueue.admission', 'this cluster has 1.35.0'],
    [
      { maxWalltime: Duration.minutes(5) },
      'FluxQueue.maxWalltime',
      'is less than the default walltime of 3600 s',
    ],
    [
      { defaultWalltime: Duration.seconds(0) },
      'FluxQueue.defaultWalltime',
      'a whole number of seconds, 1 or more',
    ],
    [
      { pods: { controller: { replicas: 0 } } },
      'FluxQueue.pods.controller.replicas',
      'must be a whole number, 1',
    ],
    [{ coreUnitMillis: 0 }, 'FluxQueue.coreUnitMillis', 'must be a whole number greater than 0'],
    [{ memoryUnit: Size.mebibytes(0) }, 'FluxQueue.memoryUnit', 'must be a whole number of MiB, 1 or more'],
    [{ memoryUnit: Size.kibibytes(1) }, 'FluxQueue.memoryUnit', 'must be a whole number of MiB, 1 or more'],
    [{ excludedNamespaces: ['a', 'B'] }, 'FluxQueue.excludedNamespaces', 'is not the name of a namespace'],
    [{ monitoringNamespace: 'a.b' }, 'FluxQueue.monitoringNamespace', 'is not the name of a namespace'],
    [{ queueDepth: 1.5 }, 'FluxQueue.queueDepth', 'must be a whole number greater than 0'],
    [{ queueWeight: 0, fairShare: true }, 'FluxQueue.queueWeight', 'must be a whole number greater than 0'],
    [{ retention: Duration.hours(36) }, 'FluxQueue.retention', 'must be a whole number of days'],
    [{ archiveRetention: Duration.hours(1) }, 'FluxQueue.archiveRetention', 'must be a whole number of days'],
    [{ queueName: 'Night' }, 'FluxQueue.queueName', 'does not match the required pattern'],
    [{ queueReservations: 2 }, 'FluxQueue.queueReservations', 'requires queuePolicy: hybrid'],
    [{ fairShareHalfLife: Duration.days(1) }, 'FluxQueue.fairShareHalfLife', 'requires fairShare: true'],
    [
      { fairShare: true, fairShareHalfLife: Duration.millis(10) },
      'FluxQueue.fairShareHalfLife',
      'must be a whole number of seconds',
    ],
    [
      { fluxion: 'embedded', fluxionEngine: 'library' },
      'FluxQueue.fluxionEngine',
      'is a setting of the sidecar',
    ],
    [
      { fluxionEngine: 'library', matchPolicy: 'first' },
      'FluxQueue.matchPolicy',
      'chooses by earlier grants',
    ],
    [{ fluxion: 'embedded', fluxionImage: 'a' }, 'FluxQueue.fluxionImage', 'is a setting of the sidecar'],
    [
      { externalRuntime: {} },
      'FluxQueue.externalRuntime.webhookUrl',
      'is required, because no webhook runs in the cluster',
    ],
  ])('%j are rejected with field and remedy', (props, field, problem) => {
    const synth = () => stackObjects(props);
    expect(synth).toThrow(PropsError);
    expect(synth).toThrow(problem);
    expect(synth).toThrow(expect.objectContaining({ code: 'FLUXQ_PROPS_INVALID', field }));
  });
});

test('a database without storage is rejected', () => {
  expect(() => Database.statefulSet({ storage: Size.gibibytes(0) })).toThrow('must be greater than 0');
});
