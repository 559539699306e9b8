import { curvesOf } from '../../runtime/simulation/curves';
import { page } from '../../runtime/simulation/page';
import { queueStatisticsOf } from '../../runtime/simulation/queues';
import { statisticsOf } from '../../runtime/simulation/statistics';
import type { Variant } from '../../runtime/simulation/variants';

const jobs = [
  {
    submittedAt: 0,
    startedAt: 60,
    endedAt: 3600,
    processors: 4,
    queue: 'batch',
    user: '1',
    delayed: false,
    firstEstimate: 50,
  },
];
const result = (label: string, weights?: ReadonlyMap<string, number>) => ({
  variant: {
    policy: 'easy',
    nodes: 2,
    coresPerNode: 8,
    sharing: { label, ...(weights && { weights }) },
    label,
  } satisfies Variant,
  statistics: statisticsOf(jobs, 16),
  queues: queueStatisticsOf(jobs, weights),
  curves: curvesOf(jobs, 16),
});

test('a page needs nothing but itself', () => {
  const html = page('trace.swf', [result('easy'), result('hybrid')]);
  expect(html).not.toMatch(/<(script|link|img|iframe)[^>]*\s(src|href)=/);
  expect(html).not.toMatch(/@import|url\(/);
  expect(html.length).toBeLessThan(100_000);
  const data = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(html)![1]!;
  const { labels, plots } = JSON.parse(data) as {
    labels: string[];
    plots: { title: string; curves: unknown[] }[];
  };
  expect(labels).toEqual(['easy', 'hybrid']);
  expect(plots.map(({ title }) => title)).toEqual([
    'Waits',
    'Mean wait by width',
    'Utilisation',
    'Waiting work',
    'Error of the first estimate',
  ]);
  expect(plots.every(({ curves }) => curves.length === 2)).toBe(true);
  expect(html).toContain('<tr><th scope="row">easy</th><td>60 s</td>');
});

test('fair share brings a table of queues', () => {
  expect(page('trace.swf', [result('easy')])).not.toContain('<h2>Queues</h2>');
  const html = page('trace.swf', [result('batch=3', new Map([['batch', 3]]))]);
  expect(html).toContain('<tr><th scope="row">batch=3</th><td>batch</td><td>3</td><td>1</td><td>60 s</td>');
});

test('names are text, never markup', () => {
  const html = page('</title><script>alert(1)</script>', [result('<b>"</script>')]);
  expect(html).not.toContain('<script>alert');
  expect(html).not.toContain('<b>');
});
