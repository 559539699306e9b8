import { CapacityForecast } from '../../../runtime/scheduler/pass/capacity-forecast';
import { nodesOf } from './simulation';

test('a reservation cannot start earlier than the sum of free units allows', () => {
  const forecast = new CapacityForecast(nodesOf(2, 4), 0);
  const allocation = (start: number, end: number, core: string) => ({
    jobid: 1,
    start,
    end,
    nodes: [{ name: 'n0', units: { core } }],
  });
  forecast.add(allocation(0, 100, '0-3'));
  forecast.add(allocation(-50, -10, '0'));
  const own = allocation(100, 150, '0-3');
  forecast.add(own);
  const jobspec = (pods: number) => ({
    jobspec: {
      version: 1,
      resources: [{ type: 'slot', count: pods, label: 'pod', with: [{ type: 'core', count: 1 }] }],
      tasks: [],
      attributes: { system: { duration: 50 } },
    },
  });
  expect(forecast.mayStartBefore(100, jobspec(4), own)).toBe(true);
  // A workload that runs past its end holds its units for one more second.
  expect(forecast.mayStartBefore(1, jobspec(4), own)).toBe(false);
  expect(forecast.mayStartBefore(100, jobspec(5), own)).toBe(false);
});
