import { PhaseTimer } from '../../runtime/scheduler/phase-timer';
import { SimulatedClock } from '../fuzz/simulated-clock';

test('measures each phase until the next one starts, and adds up a phase that is started again', async () => {
  const clock = new SimulatedClock();
  const phases = new PhaseTimer<'sync' | 'match'>(clock);
  phases.start('sync');
  await clock.advance(5);
  phases.start('match');
  await clock.advance(20.26);
  phases.start('sync');
  await clock.advance(1);
  expect(phases.stop()).toEqual({ sync: 6, match: 20.3 });
  await clock.advance(9);
  expect(phases.stop()).toEqual({ sync: 6, match: 20.3 });
});
