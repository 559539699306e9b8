import { createRegistry, leaderPendingGauge } from '../../runtime/observability/metrics';

test('fluxqueue_leader_pending shows whether the Lease is held without leading at the time of each scrape', async () => {
  const registry = createRegistry();
  let isPending = true;
  leaderPendingGauge(registry, () => isPending);
  expect(await registry.getSingleMetricAsString('fluxqueue_leader_pending')).toContain(
    'fluxqueue_leader_pending 1',
  );
  isPending = false;
  expect(await registry.getSingleMetricAsString('fluxqueue_leader_pending')).toContain(
    'fluxqueue_leader_pending 0',
  );
});
