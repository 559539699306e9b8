import { parseFairShare, parseWeights, sharingsOf } from '../../runtime/simulation/fair-share';

const TRACE = {
  queues: [
    { number: 1, name: 'batch' },
    { number: 2, name: '1' },
    { number: 3, name: '3' },
  ],
};

test('each --weights is one more comparison', () => {
  const first = parseWeights('1=3,science/gpu=2');
  expect(parseWeights('a=b=5', first)).toEqual([
    new Map([
      ['1', 3],
      ['science/gpu', 2],
    ]),
    new Map([['a=b', 5]]),
  ]);
});

test.each(['', '1', '1=', '=3', '1=0', '1=1.5', '1=3,', '1=1000001', '1=-2'])('"%s" is no weight', (text) => {
  expect(() => parseWeights(text)).toThrow('must be QUEUE=WEIGHT, separated by commas');
});

test('modes are off and on', () => {
  expect(parseFairShare('on,off,on')).toEqual(['on', 'off']);
  expect(() => parseFairShare('on,')).toThrow('must be off, on, or off,on.');
});

test('fair share is off unless it is asked for', () => {
  expect(sharingsOf(TRACE, [], [])).toEqual([{ label: 'no fair share' }]);
  expect(sharingsOf(TRACE, [], parseWeights('batch=2')).map(({ label }) => label)).toEqual(['batch=2']);
});

test('weights are those of queues by name, then by number', () => {
  const [, on, weighted] = sharingsOf(TRACE, ['off', 'on'], parseWeights('1=3,3=2,batch=5'));
  expect(on).toEqual({ label: 'fair share', weights: new Map() });
  expect(weighted).toEqual({
    label: '1=3 3=2 batch=5',
    weights: new Map([
      ['1', 3],
      ['3', 2],
      ['batch', 5],
    ]),
  });
});

test('a queue that the trace does not have is named with those that it has', () => {
  expect(() => sharingsOf(TRACE, [], parseWeights('gpu=2'))).toThrow(
    'FLUXQ_SIMULATION_QUEUE: --weights: is not a queue of the trace (got "gpu"); use 1 or batch, 2 or 1, 3',
  );
});
