import { durationSeconds, workloadSettings } from '../../runtime/workloads/settings';
import fc from '../fast-check';

const of = (annotations: Record<string, string>, labels: Record<string, string> = {}) =>
  workloadSettings({ annotations, labels });

it('returns the defaults for an object without settings', () => {
  expect(workloadSettings({})).toEqual({ hold: false, exclusive: false, after: [], preemptible: false });
});

it('reads every setting', () => {
  const settings = of(
    {
      'fluxqueue/queue': 'batch',
      'fluxqueue/priority': '-7',
      'fluxqueue/walltime': '1h30m',
      'fluxqueue/after': 'a, afterany:b.c ,afternotok:d,afterok:e',
      'fluxqueue/exclusive': 'true',
      'fluxqueue/preemptible': 'true',
      'fluxqueue/checkpoint-interval': '30m',
    },
    { 'fluxqueue/hold': 'true' },
  );
  expect(settings).toEqual({
    queue: 'batch',
    priority: -7,
    walltimeSeconds: 5400,
    hold: true,
    exclusive: true,
    after: [
      { type: 'afterok', name: 'a' },
      { type: 'afterany', name: 'b.c' },
      { type: 'afternotok', name: 'd' },
      { type: 'afterok', name: 'e' },
    ],
    preemptible: true,
    checkpointSeconds: 1800,
  });
});

it('prefers the annotation to the label of the same name', () => {
  expect(of({ 'fluxqueue/priority': '1' }, { 'fluxqueue/priority': '2' }).priority).toBe(1);
});

describe('the walltime', () => {
  it.each([
    ['90', 90],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['2h', 7200],
    ['1h2m3s', 3723],
    ['1h0m0.5s', 3600.5],
    ['1500ms', 1.5],
    ['250us', 0.00025],
    ['250µs', 0.00025],
    ['250μs', 0.00025],
    ['+1m', 60],
    ['2147483647', 2147483647],
  ])('%s is %d seconds', (text, seconds) => {
    expect(of({ 'fluxqueue/walltime': text }).walltimeSeconds).toBeCloseTo(seconds, 9);
  });

  it('accepts durations in the format of Go', () => {
    const parts = fc.record({ h: fc.nat(500_000), m: fc.nat(59), s: fc.integer({ min: 1, max: 59 }) });
    fc.assert(
      fc.property(parts, ({ h, m, s }) => {
        expect(of({ 'fluxqueue/walltime': `${h}h${m}m${s}s` }).walltimeSeconds).toBe(h * 3600 + m * 60 + s);
      }),
    );
  });

  it('is finite and positive or an error for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.0-9hmsnuµ e]{0,20}$/)), (text) => {
        let seconds: number | undefined;
        try {
          seconds = of({ 'fluxqueue/walltime': text }).walltimeSeconds;
        } catch (error) {
          expect(error).toMatchObject({ code: 'FLUXQ_SETTING_INVALID' });
          return;
        }
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(2147483647);
      }),
    );
  });
});

it('reports the field, the value and the remedy, and truncates a long value', () => {
  expect(() => of({}, { 'fluxqueue/walltime': 'soon' })).toThrow(
    'FLUXQ_SETTING_INVALID: metadata.labels["fluxqueue/walltime"]: must be a duration like "1h30m", "2d" or "1-12:00:00" (days-hours:minutes:seconds) or seconds like "5400", ' +
      'more than 0 and at most 2147483647 seconds (got "soon"); correct or remove it',
  );
  const shown = `(got "${'é'.repeat(80)}…")`;
  expect(() => of({ 'fluxqueue/queue': 'é'.repeat(500) })).toThrow(shown);
});

it.each(['fluxqueue/group', 'fluxqueue/group-size'])(
  'rejects %s, of a Job, whose pods are one workload without it',
  (name) => {
    expect(() => of({}, { [name]: '4' })).toThrow(
      `FLUXQ_SETTING_INVALID: metadata.labels["${name}"]: is for Pods alone (got "4"); ` +
        'remove it: the pods of a Job are one workload without it',
    );
  },
);

describe('a duration in another object', () => {
  it('is parsed like a walltime', () => {
    expect(durationSeconds('1h30m', 'spec.walltime.max')).toBe(5400);
    expect(durationSeconds('250ms', 'spec.requeue.backoff')).toBe(0.25);
  });

  it('is rejected with its field path', () => {
    expect(() => durationSeconds('soon', 'spec.walltime.max')).toThrow(
      expect.objectContaining({ code: 'FLUXQ_SETTING_INVALID', field: 'spec.walltime.max', value: 'soon' }),
    );
  });
});
