import { curvesOf } from '../../runtime/simulation/curves';
import { page } from '../../runtime/simulation/page';
import { statisticsOf } from '../../runtime/simulation/statistics';
import type { Variant } from '../../runtime/simulation/variants';

const jobs = [
  { submittedAt: 0, startedAt: 60, endedAt: 3600, processors: 4, delayed: false, firstEstimate: 50 },
];
const result = (label: string) => ({
  variant: { policy: 'easy', nodes: 2, coresPerNode: 8, label } satisfies Variant,
  statistics: statisticsOf(jobs, 16),
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

test('names are text, never markup', () => {
  const html = page('</title><script>alert(1)</script>', [result('<b>"</script>')]);
  expect(html).not.toContain('<script>alert');
  expect(html).not.toContain('<b>');
});
