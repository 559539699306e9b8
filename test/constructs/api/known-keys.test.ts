/** The setting that a refusal of an unknown key suggests. */
import { nearestSetting } from '../../../constructs/api/known-keys';

test.each([
  ['waltime', 'walltime'],
  ['hodl', 'hold'],
  ['prio', 'priority'],
  ['que', 'queue'],
  ['checkpoint', 'checkpoint-interval'],
  ['gangsize', 'gang-size'],
  ['job-id', undefined],
  ['node', undefined],
  ['x', undefined],
])('for %s is %s', (name, setting) => {
  expect(nearestSetting(`fluxqueue/${name}`)).toBe(setting && `fluxqueue/${setting}`);
});
